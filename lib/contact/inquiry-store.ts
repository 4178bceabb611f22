import type { InquiryBody } from '../contract/contact.ts'
import { inquiries } from '../db/contact-tables.ts'
import { asc, eq, sql } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import type { Statement } from '../db/transaction.ts'

export type InquiryRow = typeof inquiries.$inferSelect
export type InquiryState = InquiryRow['state']

export interface NewInquiry extends InquiryBody {
  readonly email: string
  /** null if it was sent without a credential. */
  readonly userId: string | null
  readonly now: number
  /** `waiting` for delivery, or `kept` for the operator to read. */
  readonly state: 'waiting' | 'kept'
}

export function newInquiry({ now, company, ...inquiry }: NewInquiry): InquiryRow {
  return {
    ...inquiry,
    id: crypto.randomUUID(),
    company: company === undefined || company === '' ? null : company,
    createdAt: now,
    queuedAt: now,
    dueAt: now,
    attempts: 0,
    claim: null,
    settledAt: null,
    lastError: null,
  }
}

export function insertInquiry(db: Db, inquiry: InquiryRow): Statement {
  return db.insert(inquiries).values(inquiry)
}

/** The inquiries in one state, or all, oldest first. */
export async function listInquiries(db: Db, state?: InquiryState): Promise<InquiryRow[]> {
  return db
    .select()
    .from(inquiries)
    .where(state === undefined ? undefined : eq(inquiries.state, state))
    .orderBy(asc(inquiries.createdAt), sql`rowid`)
    .all()
}

/** The inquiries whose id begins with `start`. */
export async function findInquiries(db: Db, start: string): Promise<InquiryRow[]> {
  const hasPrefix = sql`substr(${inquiries.id}, 1, ${start.length}) = ${start}`
  return db.select().from(inquiries).where(hasPrefix).all()
}
