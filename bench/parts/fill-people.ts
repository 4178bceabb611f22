import { mintKey } from '../../lib/access/api-key.ts'
import { monthOf } from '../../lib/config/period.ts'
import type { SqliteDb } from '../../lib/db/open.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { createRandom, pick, type Random } from '../../scripts/parts/random.ts'

const PLANS = ['free', 'free', 'free', 'starter', 'pro']
const STATES = ['waiting', 'delivered', 'dead', 'kept']
const MESSAGE = 'What would two million look-ups a month cost us?'
const OPERATIONS = ['locateAddress', 'locateBatch', 'getTimezone', 'sendBeacon']
/** Statuses with their shares of the requests. */
const STATUS_SHARES = [
  [200, 1],
  [404, 0.1],
  [429, 0.02],
  [500, 0.0001],
] as const
const DAYS = 90
const DAILY_REQUESTS = 100_000

type Client = SqliteDb['$client']

/**
 * Adds `count` users, each with a key, a site, an inquiry and requests in the current month, and the
 * requests of all users in 90 days.
 */
export function fillPeople({ $client: client }: SqliteDb, count: number, now: number): void {
  const random = createRandom(2)
  const addPerson = personAdder(client, random, now)
  client.transaction(() => {
    for (let n = 0; n < count; n++) addPerson(n)
    addDays(client, random, Math.floor(now / DAY_MS))
  })()
}

function personAdder(client: Client, random: Random, now: number) {
  const addUser = adder(client, 'users', 'id, email, email_verified, plan, created_at')
  const addKey = adder(client, 'api_keys', 'id, user_id, hash, prefix, name, type, created_at')
  const addSite = adder(client, 'sites', 'id, user_id, name, created_at, is_first, host')
  const addMonth = adder(
    client,
    'usage_by_month',
    'month, user_id, key_id, requests, errors, limited',
  )
  const addOperation = adder(
    client,
    'usage_by_operation',
    'day, user_id, key_id, operation, status, requests',
  )
  const addInquiry = adder(
    client,
    'inquiries',
    'id, user_id, name, email, message, state, created_at, queued_at, due_at, attempts',
  )
  const month = monthOf(now).start / DAY_MS
  return (n: number): void => {
    const user = crypto.randomUUID()
    const email = `person-${n}@example.com`
    const at = now - Math.floor(random() * DAYS * DAY_MS)
    addUser(user, email, n % 3 === 0 ? 0 : 1, pick(random, PLANS), at)
    const { id, hash, prefix } = mintKey('secret')
    addKey(id, user, hash, prefix, 'Production server', 'secret', at)
    addSite(crypto.randomUUID(), user, `https://shop-${n}.example`, at, 1, `shop-${n}.example`)
    const requests = Math.floor(random() ** 4 * DAILY_REQUESTS)
    addMonth(month, user, id, requests, requests >> 5, requests >> 7)
    addOperation(Math.floor(now / DAY_MS), user, id, 'locateAddress', 200, requests)
    const state = pick(random, STATES)
    addInquiry(crypto.randomUUID(), user, `Person ${n}`, email, MESSAGE, state, at, at, at, 3)
  }
}

function addDays(client: Client, random: Random, today: number): void {
  const add = adder(client, 'usage_of_all', 'day, operation, status, requests')
  for (let day = today - DAYS; day < today; day++) {
    for (const operation of OPERATIONS) {
      for (const [status, share] of STATUS_SHARES) {
        add(day, operation, status, Math.round(share * random() * DAILY_REQUESTS))
      }
    }
  }
}

function adder(client: Client, table: string, columns: string) {
  const values = columns.replaceAll(/\w+/g, '?')
  const insert = client.prepare(`INSERT OR IGNORE INTO ${table} (${columns}) VALUES (${values})`)
  return (...row: readonly (string | number)[]): void => {
    insert.run(...row)
  }
}
