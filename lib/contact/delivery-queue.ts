import { accountMails, capNotices, inquiries } from '../db/contact-tables.ts'
import { and, asc, eq, gt, isNull, lte, or, type SQL, sql } from '../db/drizzle.ts'
import type { Queries } from '../db/queries.ts'
import { LONGEST_PAUSE_MS } from './backoff.ts'

/** The columns that a courier reads from every message that it delivers. */
export interface Delivery {
  readonly id: string
  readonly attempts: number
  readonly queuedAt: number
  /** From when on it is of no use; absent or null: never. */
  readonly expiresAt?: number | null
}

/** A row that this process may try to deliver. No other process tries before the lease ends. */
export type Claimed<Row> = Row & { readonly claim: string }

type Columns = Pick<typeof inquiries.$inferSelect, 'dueAt' | 'attempts' | 'settledAt' | 'lastError'>

/** The outcome of an attempt: delivered, given up (`dead`), or to be tried again at `dueAt`. */
export type DeliveryOutcome =
  | (Pick<Columns, 'settledAt' | 'lastError'> & { readonly state: 'delivered' | 'dead' })
  | Pick<Columns, 'dueAt' | 'lastError'>
  | Pick<Columns, 'dueAt' | 'attempts'>

export interface DeliveryQueue<Row extends Delivery> {
  isDue(db: Queries, now: number): Promise<boolean>
  /**
   * Claims the row that has been due for longest; null if none is due. It is one statement, so that
   * only one of several processes gets it. The claim expires at `leaseEnd` unless it is settled.
   */
  claimDue(db: Queries, now: number, leaseEnd: number): Promise<Claimed<Row> | null>
  /** Ends the claim with an outcome. Changes nothing if another process has claimed the row meanwhile. */
  settle(db: Queries, claimed: Claimed<Row>, outcome: DeliveryOutcome): Promise<void>
}

export const inquiryQueue: DeliveryQueue<typeof inquiries.$inferSelect> = createQueue(inquiries)

type NoticeRow = typeof capNotices.$inferSelect

/** Each channel has a queue, so that mails do not wait for a broken webhook. */
export function noticeQueue(channel: NoticeRow['channel']): DeliveryQueue<NoticeRow> {
  return createQueue(capNotices, { ours: () => eq(capNotices.channel, channel) })
}

/** Mails whose links have expired are not sent. */
export const accountMailQueue: DeliveryQueue<typeof accountMails.$inferSelect> = createQueue(
  accountMails,
  {
    ours: (now) => {
      const { expiresAt } = accountMails
      return or(isNull(expiresAt), gt(expiresAt, now))
    },
    onceSettled: 'remove',
  },
)

interface QueueOptions {
  /** Which rows of the table are in the queue; without it, all. */
  readonly ours?: (now: number) => SQL | undefined
  /** What happens to rows that are delivered or given up. Default: keep. */
  readonly onceSettled?: 'keep' | 'remove'
}

function createQueue<Table extends typeof inquiries | typeof capNotices | typeof accountMails>(
  source: Table,
  { ours, onceSettled = 'keep' }: QueueOptions = {},
): DeliveryQueue<Table['$inferSelect']> {
  // safe: only the columns that all queues share are named below
  const table = source as typeof inquiries
  const selectFirst = (db: Queries, now: number) => {
    // `dueAt` later than the longest pause allows comes from a clock that was ahead.
    const isNow = or(lte(table.dueAt, now), gt(table.dueAt, now + LONGEST_PAUSE_MS))
    return db
      .select({ id: table.id })
      .from(table)
      .where(and(ours?.(now), eq(table.state, 'waiting'), isNow))
      .orderBy(asc(table.dueAt))
      .limit(1)
  }
  return {
    isDue: async (db, now) => (await selectFirst(db, now).get()) !== undefined,
    claimDue: async (db, now, leaseEnd) => {
      const claim = crypto.randomUUID()
      const row: Table['$inferSelect'] | undefined = await db
        .update(table)
        .set({ claim, dueAt: leaseEnd, attempts: sql`${table.attempts} + 1` })
        .where(eq(table.id, selectFirst(db, now)))
        .returning()
        .get()
      return row === undefined ? null : { ...row, claim }
    },
    settle: async (db, { id, claim }, outcome) => {
      const isOurs = and(eq(table.id, id), eq(table.claim, claim))
      if (onceSettled === 'remove' && 'state' in outcome) {
        await db.delete(table).where(isOurs).run()
        return
      }
      await db
        .update(table)
        .set({ ...outcome, claim: null })
        .where(isOurs)
        .run()
    },
  }
}
