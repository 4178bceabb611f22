import { join } from 'node:path'
import { openDb } from '../../lib/db/open.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const DAYS = 30
/** Of a week, from Thursday, with which the days since 1970 begin: fewer on Saturday and Sunday. */
const SHARES = [1, 0.95, 0.42, 0.38, 0.9, 1.04, 1.1]
const REQUESTS_PER_DAY = 2_300

export interface Past {
  readonly email: string
  readonly auditRows: number
  /** Epoch milliseconds. */
  readonly now: number
}

type Client = ReturnType<typeof openDb>['$client']

/** Lets the user look back on a month of requests, and on as many entries of the audit log. */
export function addPast(dataDir: string, { email, auditRows, now }: Past): void {
  const { $client } = openDb(join(dataDir, 'app.db'))
  const sql = 'SELECT id FROM users WHERE email = ?'
  const userId = $client.prepare<[string], string>(sql).pluck().get(email) ?? ''
  $client.transaction(() => {
    addUsage($client, userId, now)
    addAuditRows($client, userId, { count: auditRows, email, now })
  })()
  $client.close()
}

function addUsage(client: Client, userId: string, now: number): void {
  const keys = client
    .prepare<[string], string>('SELECT id FROM api_keys WHERE user_id = ? ORDER BY id')
    .pluck()
    .all(userId)
  const today = Math.floor(now / DAY_MS)
  const addDay = client.prepare('INSERT OR REPLACE INTO usage_by_day VALUES (?, ?, ?, ?)')
  const addPeriod = client.prepare(
    'UPDATE usage_by_period SET requests = requests + ? WHERE user_id = ?',
  )
  for (const [at, id] of keys.entries()) {
    for (let day = today - DAYS + 1; day < today; day++) {
      const requests = Math.round(((SHARES[day % 7] ?? 1) * REQUESTS_PER_DAY) / (at + 1))
      addDay.run(userId, day, id, requests + ((day * 37) % 211))
      if (day > today - DAYS / 2) addPeriod.run(requests, userId)
    }
  }
}

const ACTIONS = ['create_key', 'revoke_key', 'renew_key', 'create_site', 'delete_site', 'login']

function addAuditRows(
  client: Client,
  userId: string,
  { count, email, now }: { count: number; email: string; now: number },
): void {
  const add = client.prepare(
    `INSERT INTO audit_log (app, actor_id, actor_label, action, target_type, target_id, detail, created_at)
     VALUES ('api', ?, ?, ?, ?, ?, ?, ?)`,
  )
  for (let n = 0; n < count; n++) {
    const action = ACTIONS[n % ACTIONS.length] ?? 'login'
    const at = now - (count - n) * 60_000
    const detail = `https://shop-${n}.example`
    add.run(userId, email, action, 'site', crypto.randomUUID(), detail, at)
  }
}
