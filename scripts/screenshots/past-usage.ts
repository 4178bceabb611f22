import { join } from 'node:path'
import { openDb } from '../../lib/db/open.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const DAYS = 30
/** Of a week, from Thursday, with which the days since 1970 begin: fewer on Saturday and Sunday. */
const SHARES = [1, 0.95, 0.42, 0.38, 0.9, 1.04, 1.1]
const REQUESTS_PER_DAY = 2_300

/** Lets each key of the user look back on a month of requests. */
export function addPastUsage(dataDir: string, email: string, now: number): void {
  const { $client } = openDb(join(dataDir, 'app.db'))
  const keys = $client
    .prepare<[string], { id: string; userId: string }>(
      `SELECT api_keys.id, user_id AS userId FROM api_keys
       JOIN users ON users.id = user_id WHERE email = ? ORDER BY api_keys.id`,
    )
    .all(email)
  const today = Math.floor(now / DAY_MS)
  const addDay = $client.prepare('INSERT OR REPLACE INTO usage_by_day VALUES (?, ?, ?, ?)')
  const addPeriod = $client.prepare(
    'UPDATE usage_by_period SET requests = requests + ? WHERE user_id = ?',
  )
  for (const [at, { id, userId }] of keys.entries()) {
    for (let day = today - DAYS + 1; day < today; day++) {
      const requests = Math.round(((SHARES[day % 7] ?? 1) * REQUESTS_PER_DAY) / (at + 1))
      addDay.run(userId, day, id, requests + ((day * 37) % 211))
      if (day > today - DAYS / 2) addPeriod.run(requests, userId)
    }
  }
  $client.close()
}
