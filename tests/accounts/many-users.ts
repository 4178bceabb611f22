import { writeFileSync } from 'node:fs'
import { readPlans } from '../../lib/config/plans.ts'
import { openDb } from '../../lib/db/open.ts'
import { createKey } from '../../scripts/parts/keys.ts'

/** Writes one plan with limits that no test reaches. */
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
    const options = { name: 'first', type: 'secret', scopes: null } as const
    keys.push(await createKey(accounts, { ...options, email: `user${n}@example.com` }))
  }
  db.$client.close()
  return keys
}
