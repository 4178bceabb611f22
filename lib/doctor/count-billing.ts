import type { Queries } from '../db/queries.ts'

/**
 * The number of subscriptions, the time of the last event from Stripe, and the overage reports that
 * Stripe has not confirmed, with those that it refused. Times are epoch milliseconds.
 */
export interface BillingCounts {
  readonly subscriptions: number
  readonly lastEventAt: number | null
  readonly unsent: number
  readonly refused: number
  readonly unsentSince: number | null
}

export const COUNTS = `
  SELECT (SELECT count(*) FROM subscriptions), (SELECT max(received_at) FROM processor_events),
    count(*), count(refused_at), min(at)
  FROM overage_reports WHERE sent_at IS NULL`

export async function countBilling({ execute }: Pick<Queries, 'execute'>): Promise<BillingCounts> {
  const { rows } = await execute({ sql: COUNTS, params: [] })
  // safe: the columns of the statement
  const [subscriptions, lastEventAt, unsent, refused, unsentSince] = rows[0] as [
    number,
    number | null,
    number,
    number,
    number | null,
  ]
  return { subscriptions, lastEventAt, unsent, refused, unsentSince }
}
