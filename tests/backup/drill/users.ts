import { writeFileSync } from 'node:fs'
import { openDb } from '../../lib/db/open.ts'
import { readPlans } from '../../lib/plans.ts'
import { createKey } from '../../scripts/create-key.ts'

/** Writes one plan, whose limits nobody meets. */
export function writeWidePlan(file: string): void {
  const wide = { monthlyCap: 10 ** 9, maxKeys: 10 ** 6, maxSites: 10 ** 6, price: 0 }
  const plan = { id: 'free', name: 'Free', ...wide, requestsPerMinute: 10 ** 6 }
  writeFileSync(file, JSON.stringify([plan]))
}

/** Adds users to a database that no server has open. Returns a key of each. */
export async function addUsers(database: string, plans: string, count: number): Promise<string[]> {
  const db = openDb(database)
  const accounts = { db, plans: readPlans(plans), now: Date.now(), command: 'test' }
  const keys: string[] = []
  for (let n = 0; n < count; n++) {
    const options = { email: `user${n}@example.com`, name: 'first', type: 'secret' } as const
    keys.push(await createKey(accounts, options))
  }
  db.$client.close()
  return keys
}
