import { capNotices, inquiries } from '../db/contact-tables.ts'
import { and, count, desc, eq, isNull, lte, or, sql } from '../db/drizzle.ts'
import type { Queries } from '../db/queries.ts'
import type { Statement } from '../db/transaction.ts'

export type DeliveryState = typeof inquiries.$inferSelect.state

interface Wanted {
  /** undefined: all. */
  readonly state: DeliveryState | undefined
  readonly limit: number
  readonly offset: number
}

/** What an operator reads and changes of the messages that a courier delivers. */
export const inquiryStore = createStore(inquiries)
export const noticeStore = createStore(capNotices)

function createStore<Table extends typeof inquiries | typeof capNotices>(source: Table) {
  // safe: only the columns that all queues share are named below
  const table = source as typeof inquiries
  type Row = Table['$inferSelect']
  return {
    /** One page of the messages, newest first. */
    list: async (db: Queries, { state, limit, offset }: Wanted): Promise<Row[]> =>
      db
        .select()
        .from(table)
        .where(state === undefined ? undefined : eq(table.state, state))
        .orderBy(desc(table.createdAt), desc(sql`rowid`))
        .limit(limit)
        .offset(offset)
        .all(),
    /** The number of messages in each state. */
    count: async (db: Queries): Promise<ReadonlyMap<DeliveryState, number>> => {
      const { state } = table
      const rows = await db.select({ state, rows: count() }).from(table).groupBy(state).all()
      return new Map(rows.map((row) => [row.state, row.rows]))
    },
    find: async (db: Queries, id: string): Promise<Row | null> =>
      (await db.select().from(table).where(eq(table.id, id)).get()) ?? null,
    /** Queues the message again, unless an attempt is running or has succeeded meanwhile. */
    requeue: (db: Queries, { id, state }: Pick<Row, 'id' | 'state'>, now: number): Statement => {
      const isFree = or(isNull(table.claim), lte(table.dueAt, now))
      return db
        .update(table)
        .set({ state: 'waiting', queuedAt: now, dueAt: now, attempts: 0, settledAt: null })
        .where(and(eq(table.id, id), eq(table.state, state), isFree))
    },
    remove: (db: Queries, { id }: Pick<Row, 'id'>): Statement =>
      db.delete(table).where(eq(table.id, id)),
  }
}
