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

/** Reads and changes the messages of a queue, for operators. */
export interface DeliveryStore<Row> {
  /** One page of the messages, newest first. */
  list(db: Queries, wanted: Wanted): Promise<Row[]>
  /** The number of messages in each state. */
  count(db: Queries): Promise<ReadonlyMap<DeliveryState, number>>
  find(db: Queries, id: string): Promise<Row | null>
  /** Queues the message again, unless an attempt is running or has succeeded meanwhile. */
  requeue(db: Queries, row: { id: string; state: DeliveryState }, now: number): Statement
  remove(db: Queries, row: { id: string }): Statement
}

/** How many messages were given up, each by an index. */
export async function countFailed({ execute }: Pick<Queries, 'execute'>) {
  const { rows } = await execute({ sql: COUNT_FAILED, params: [] })
  const [inquiries, notices] = rows[0] ?? []
  return { inquiries: Number(inquiries), notices: Number(notices) }
}

export const COUNT_FAILED = `SELECT (SELECT count(*) FROM inquiries WHERE state = 'dead'),
  (SELECT count(*) FROM cap_notices WHERE channel IN ('mail', 'webhook') AND state = 'dead')`

export const inquiryStore: DeliveryStore<typeof inquiries.$inferSelect> = createStore(inquiries)
export const noticeStore: DeliveryStore<typeof capNotices.$inferSelect> = createStore(capNotices)

function createStore<Table extends typeof inquiries | typeof capNotices>(
  source: Table,
): DeliveryStore<Table['$inferSelect']> {
  // safe: only the columns that all queues share are named below
  const table = source as typeof inquiries
  return {
    list: async (db, { state, limit, offset }) =>
      db
        .select()
        .from(table)
        .where(state === undefined ? undefined : eq(table.state, state))
        .orderBy(desc(table.createdAt), desc(sql`rowid`))
        .limit(limit)
        .offset(offset)
        .all(),
    count: async (db) => {
      const { state } = table
      const rows = await db.select({ state, rows: count() }).from(table).groupBy(state).all()
      return new Map(rows.map((row) => [row.state, row.rows]))
    },
    find: async (db, id) => (await db.select().from(table).where(eq(table.id, id)).get()) ?? null,
    requeue: (db, { id, state }, now) => {
      const isFree = or(isNull(table.claim), lte(table.dueAt, now))
      return db
        .update(table)
        .set({ state: 'waiting', queuedAt: now, dueAt: now, attempts: 0, settledAt: null })
        .where(and(eq(table.id, id), eq(table.state, state), isFree))
    },
    remove: (db, { id }) => db.delete(table).where(eq(table.id, id)),
  }
}
