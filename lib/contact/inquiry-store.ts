import { inquiries } from '../db/contact-tables.ts'
import { and, asc, count, eq, gt, inArray, isNull, lt, lte, or, sql } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import type { Statement } from '../db/unit.ts'
import { LONGEST_PAUSE_MS } from './backoff.ts'
import type { InquiryRow, InquiryState } from './inquiry.ts'

export function insertInquiry(db: Db, inquiry: InquiryRow): Statement {
  return db.insert(inquiries).values(inquiry)
}

/** An attempt at the delivery of one inquiry, which nobody else makes before the lease ends. */
export type ClaimedInquiry = InquiryRow & { readonly claim: string }

/**
 * Claims the inquiry that has been due for longest; null: none is due. One statement, so that of
 * several processes one gets it. A claim that is not ended is void at `leaseEnd`.
 */
export function claimDue(db: Db, now: number, leaseEnd: number): ClaimedInquiry | null {
  // What is due later than anything is put off waits for a clock that was ahead, and was set back.
  const isNow = or(lte(inquiries.dueAt, now), gt(inquiries.dueAt, now + LONGEST_PAUSE_MS))
  const isDue = and(eq(inquiries.state, 'waiting'), isNow)
  const first = db
    .select({ id: inquiries.id })
    .from(inquiries)
    .where(isDue)
    .orderBy(asc(inquiries.dueAt))
    .limit(1)
  // A write takes the lock even where it changes nothing.
  if (first.get() === undefined) return null
  const claim = crypto.randomUUID()
  const row = db
    .update(inquiries)
    .set({ claim, dueAt: leaseEnd, attempts: sql`${inquiries.attempts} + 1` })
    .where(eq(inquiries.id, first))
    .returning()
    .get()
  return row === undefined ? null : { ...row, claim }
}

/** The mail server or the webhook has it. Changes nothing once the claim is another's. */
export function markDelivered(db: Db, claimed: ClaimedInquiry, now: number): Statement {
  return end(db, claimed, { state: 'delivered', settledAt: now, trouble: null })
}

/** The attempt has failed; there will be another one at `dueAt`. */
export function postpone(
  db: Db,
  claimed: ClaimedInquiry,
  { dueAt, trouble }: Pick<InquiryRow, 'dueAt' | 'trouble'>,
): Statement {
  return end(db, claimed, { dueAt, trouble })
}

/** The last attempt has failed: what becomes of it is up to the operator. */
export function giveUp(
  db: Db,
  claimed: ClaimedInquiry,
  { settledAt, trouble }: Pick<InquiryRow, 'settledAt' | 'trouble'>,
): Statement {
  return end(db, claimed, { state: 'dead', settledAt, trouble })
}

/** The attempt was broken off: as if it had not been made. */
export function giveBack(db: Db, claimed: ClaimedInquiry, now: number): Statement {
  return end(db, claimed, { dueAt: now, attempts: claimed.attempts - 1 })
}

/** Not drizzle's own statement: that is a promise as well, and runs where it is awaited. */
function end(db: Db, { id, claim }: ClaimedInquiry, change: Partial<InquiryRow>): Statement {
  const isOurs = and(eq(inquiries.id, id), eq(inquiries.claim, claim))
  const ending = db
    .update(inquiries)
    .set({ ...change, claim: null })
    .where(isOurs)
  return { run: () => ending.run() }
}

/** Oldest first; of one state, or all. */
export function listInquiries(db: Db, state?: InquiryState): InquiryRow[] {
  return db
    .select()
    .from(inquiries)
    .where(state === undefined ? undefined : eq(inquiries.state, state))
    .orderBy(asc(inquiries.createdAt), sql`rowid`)
    .all()
}

/** How many there are of each state. */
export function countInquiries(db: Db): ReadonlyMap<InquiryState, number> {
  const { state } = inquiries
  const rows = db.select({ state, rows: count() }).from(inquiries).groupBy(state).all()
  return new Map(rows.map((row) => [row.state, row.rows]))
}

/** Those whose id begins with `start`. */
export function findInquiries(db: Db, start: string): InquiryRow[] {
  const beginsSo = sql`substr(${inquiries.id}, 1, ${start.length}) = ${start}`
  return db.select().from(inquiries).where(beginsSo).all()
}

/** Queues it anew, unless an attempt runs or has succeeded meanwhile. */
export function requeue(db: Db, { id, state }: InquiryRow, now: number): Statement {
  const isFree = or(isNull(inquiries.claim), lte(inquiries.dueAt, now))
  return db
    .update(inquiries)
    .set({ state: 'waiting', queuedAt: now, dueAt: now, attempts: 0, settledAt: null })
    .where(and(eq(inquiries.id, id), eq(inquiries.state, state), isFree))
}

export function removeInquiry(db: Db, { id }: InquiryRow): Statement {
  return db.delete(inquiries).where(eq(inquiries.id, id))
}

/** So few at once that no request waits for long. */
const STEP_ROWS = 500

/** Removes up to 500 that were delivered before `time`. Returns how many. */
export function removeDelivered(db: Db, time: number): number {
  const old = db
    .select({ id: inquiries.id })
    .from(inquiries)
    .where(and(eq(inquiries.state, 'delivered'), lt(inquiries.settledAt, time)))
    .limit(STEP_ROWS)
  return db.delete(inquiries).where(inArray(inquiries.id, old)).run().changes
}
