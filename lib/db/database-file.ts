import { listPending } from './migrate.ts'
import { type Client, openReadOnly } from './open.ts'

/** As many lines of damage tell enough. */
const MAX_LINES = 10

/** What SQLite finds wrong with the whole file, a line each; nothing: it is sound. */
export function findDamage(file: string): string[] {
  return read(file, (client) => {
    const lines = client.prepare(`PRAGMA integrity_check(${MAX_LINES})`).pluck().all().map(String)
    const damage = lines.filter((line) => line !== 'ok')
    const orphans = client.prepare('SELECT "table", parent FROM pragma_foreign_key_check').raw()
    for (const row of orphans.iterate()) {
      if (damage.length === MAX_LINES) break
      const [table, parent] = Array.isArray(row) ? row : []
      damage.push(`a row of ${table} belongs to a row of ${parent} that is not there`)
    }
    return damage
  })
}

/** Names of the migrations that the file lacks. Throws where a newer version has written it. */
export function pendingMigrations(file: string): string[] {
  return read(file, listPending)
}

/** The latest of the times that say when something happened, epoch milliseconds; 0: there is none. */
export function latestTime(file: string): number {
  return read(file, (client) =>
    Math.max(
      ...['SELECT max(created_at) FROM audit_log', 'SELECT max(checked_at) FROM health'].map(
        (sql) => Number(client.prepare(sql).pluck().get()),
      ),
    ),
  )
}

/** Of events of the payment processor, and of reports to it; times are epoch milliseconds. */
export interface BillingCounts {
  readonly subscriptions: number
  readonly lastEventAt: number | null
  readonly waiting: number
  readonly refused: number
  readonly waitingSince: number | null
}

const BILLING = `
  SELECT
    (SELECT count(*) FROM subscriptions) AS subscriptions,
    (SELECT max(received_at) FROM processor_events) AS lastEventAt,
    count(*) AS waiting,
    count(refused_at) AS refused,
    min(at) AS waitingSince
  FROM overage_reports WHERE sent_at IS NULL`

/** undefined: there is nothing to read them from, or another version has written it. */
export function countBilling(file: string): BillingCounts | undefined {
  try {
    return read(file, (client) => client.prepare<[], BillingCounts>(BILLING).get())
  } catch {
    return undefined // of which the check of the database tells
  }
}

function read<Result>(file: string, work: (client: Client) => Result): Result {
  const client = openReadOnly(file)
  try {
    return work(client)
  } finally {
    client.close()
  }
}
