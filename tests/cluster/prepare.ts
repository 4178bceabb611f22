import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findUserByEmail } from '../../lib/accounts/users.ts'
import { readPlans } from '../../lib/config/plans.ts'
import { migratePg } from '../../lib/postgres/migrate.ts'
import { createPgDb } from '../../lib/storage/pg-engine.ts'
import { createKey } from '../../scripts/parts/keys.ts'
import { openTestPool } from '../support/database/postgres-server.ts'
import { processFolder } from '../support/temp-folder.ts'

export const NARROW_PER_MINUTE = 10
const OWNERS = 60
const ORIGIN = 'https://shop.example'

const plansFile = join(processFolder(), 'plans.json')
const many = 10 ** 6
const wide = { monthlyCap: 10 ** 9, maxKeys: many, maxSites: many, requestsPerMinute: many }
const narrow = { ...wide, maxKeys: 1, requestsPerMinute: NARROW_PER_MINUTE }
writeFileSync(
  plansFile,
  JSON.stringify([
    { id: 'free', name: 'Free', price: 0, ...wide },
    { id: 'narrow', name: 'Narrow', price: 1, ...narrow },
  ]),
)

export const SETTINGS = {
  /** Made here, since a secret scanner would find a literal one. */
  MERIDIAN_SECRET: 'a phrase that nobody guesses '.repeat(2),
  MERIDIAN_PLANS: plansFile,
  MERIDIAN_DEMO: '0',
  MERIDIAN_CONTACT: 'store',
  MERIDIAN_TRUSTED_PROXIES: '127.0.0.1',
}

/** What the clients of a cluster need. */
export interface Prepared {
  readonly databaseUrl: string
  /** Keys with full access, each of another user, since a user may create only few keys and sites an hour. */
  readonly owners: readonly string[]
  /** A key that may send 10 requests a minute. */
  readonly narrow: string
  /** The site whose beacons are sent. */
  readonly origin: string
}

/** Adds users, each with a key, and a site. */
export async function prepare(databaseUrl: string): Promise<Prepared> {
  await using pool = openTestPool(databaseUrl)
  await migratePg(pool)
  const db = createPgDb(pool)
  const accounts = { db, plans: readPlans(plansFile), now: Date.now(), command: 'test' }
  const secret = { name: 'first', type: 'secret', scopes: null } as const
  const owners = await Array.fromAsync({ length: OWNERS }, (_, n) =>
    createKey(accounts, { ...secret, email: `user${n}@example.com` }),
  )
  const limited = { ...secret, email: 'narrow@example.com', plan: 'narrow' }
  const user = await findUserByEmail(db, 'user0@example.com')
  await db.execute({
    sql: 'INSERT INTO sites (id, user_id, name, host, created_at, is_first) VALUES (?, ?, ?, ?, 1, 1)',
    params: ['shop', user?.id, ORIGIN, 'shop.example'],
  })
  return { databaseUrl, owners, narrow: await createKey(accounts, limited), origin: ORIGIN }
}
