import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { mintKey } from '../../lib/access/api-key.ts'
import { insertKey, type KeyRow, listKeys, newKey } from '../../lib/access/keys.ts'
import { insertUser, newUser, type UserRow } from '../../lib/accounts/users.ts'
import { insertCustomer } from '../../lib/billing/subscription/customers.ts'
import { saveSubscription } from '../../lib/billing/subscription/subscriptions.ts'
import { readPlans } from '../../lib/config/plans.ts'
import { auditLog } from '../../lib/db/tables.ts'
import type { Accounts } from '../../scripts/parts/accounts.ts'
import { createKey, keyTable, renewKey, revokeKey } from '../../scripts/parts/keys.ts'
import { storeOfTest } from '../support/database/store.ts'
import { NOON } from '../support/helpers.ts'

const openStore = storeOfTest()

const YEAR_LATER = Date.UTC(2027, 0, 15, 12)

const BOUGHT = {
  id: 'sub_1',
  itemId: 'si_1',
  plan: 'starter',
  status: 'active',
  periodStart: NOON,
  periodEnd: NOON + 1,
  cancelAt: null,
  overages: false,
  overageItemId: null,
  interval: 'month' as const,
  priceId: null,
  currency: null,
  trialEnd: null,
}

const WANTED = {
  email: 'ada@example.com',
  name: 'made',
  type: 'secret',
  plan: undefined,
  scopes: undefined,
  origins: undefined,
} as const

let accounts: Accounts
let user: UserRow
beforeEach(async () => {
  const plans = readPlans(undefined)
  accounts = { db: (await openStore()).db, plans, now: NOON, command: 'npm run key' }
  user = await addUser('ada@example.com')
})

async function addUser(email: string): Promise<UserRow> {
  const added = newUser({ email, plan: 'free', now: NOON })
  await insertUser(accounts.db, added).run()
  return added
}

async function addKey(changes: Partial<KeyRow> = {}): Promise<KeyRow> {
  const access = { type: 'secret', scopes: null, allowedOrigins: null } as const
  const made = { userId: user.id, name: 'test', ...access, now: NOON, expiresAt: null }
  const row = { ...newKey(mintKey('secret'), made), ...changes }
  await insertKey(accounts.db, row, 100).run()
  return row
}

const keysOf = async (email: UserRow) => listKeys(accounts.db, email.id)
const audited = () => accounts.db.select().from(auditLog).all()

describe('the table of keys', () => {
  it('shows one line per key of the user, oldest first, with its access', async () => {
    const first = await addKey({ name: 'first key', expiresAt: NOON, lastUsedAt: NOON - 1_000 })
    const second = await addKey({
      type: 'publishable',
      scopes: ['geo:read'],
      allowedOrigins: ['https://a.example', 'https://*.b.example'],
      expiresAt: YEAR_LATER,
    })
    await addKey({ userId: (await addUser('eve@example.com')).id, name: 'other' })
    const [titles = '', ...lines] = (await keyTable(accounts, 'ADA@example.com')).split('\n')
    const made = '2026-01-15T12:00:00Z'
    assert.deepEqual(
      lines.map((line) => line.split(/ {2,}/)),
      [
        `${first.prefix}|${first.id}|secret|expired|${made}|2026-01-15T11:59:59Z|${made}|all|-|first key`,
        `${second.prefix}|${second.id}|publishable|active|${made}|never|2027-01-15T12:00:00Z|geo:read|https://a.example,https://*.b.example|test`,
        '',
      ].map((line) => line.split('|')),
    )
    for (const line of lines.slice(0, 2)) {
      assert.equal(line.indexOf(line.includes('first') ? 'first' : 'test'), titles.indexOf('Name'))
    }
  })

  it('escapes control characters in names', async () => {
    await addKey({ name: 'a\nb\u001b[2J\u009b1m\u2028\u202e' })
    const lines = (await keyTable(accounts, user.email)).split('\n')
    assert.equal(lines.length, 3)
    assert.match(lines[1] ?? '', /a�b�\[2J�1m��$/)
  })

  it('is refused for an unknown user', async () => {
    await assert.rejects(keyTable(accounts, 'eve@example.com'), /^Error: There is no user eve@/)
  })
})

describe('a key managed on the command line', () => {
  it('is revoked by the beginning of its id or prefix, and audited', async () => {
    for (const nameOf of [
      (key: KeyRow) => key.id,
      (key: KeyRow) => key.prefix,
      (key: KeyRow) => key.id.slice(0, 8),
      (key: KeyRow) => key.prefix.slice(0, 9),
    ]) {
      const key = await addKey({ name: 'old' })
      assert.equal((await revokeKey(accounts, user.email, nameOf(key))).id, key.id)
      assert.deepEqual(await keysOf(user), [])
      const { id: _, searchText: __, ...row } = (await audited()).at(-1) ?? {}
      assert.deepEqual(row, {
        app: 'cli',
        actorId: user.id,
        actorLabel: 'npm run key',
        action: 'revoke_key',
        targetType: 'api_key',
        targetId: key.id,
        detail: 'old',
        createdAt: NOON,
      })
    }
  })

  it('is renewed for as long as a new key lasts, and audited', async () => {
    const { id } = await addKey({ expiresAt: NOON - 1 })
    assert.equal((await renewKey(accounts, user.email, id)).expiresAt, YEAR_LATER)
    assert.equal((await keysOf(user))[0]?.expiresAt, YEAR_LATER)
    assert.deepEqual(
      (await audited()).map(({ action, targetId }) => [action, targetId]),
      [['renew_key', id]],
    )
  })

  it('expires by the paid plan when created and when renewed', async () => {
    const { db } = accounts
    await insertCustomer(db, { userId: user.id, customerId: 'cus_1', createdAt: NOON }).run()
    await saveSubscription(db, { userId: user.id, ...BOUGHT }).run()
    const { id } = await addKey({ expiresAt: NOON - 1 })
    assert.equal((await renewKey(accounts, user.email, id)).expiresAt, null)
    for (let made = 2; made <= 5; made++) await createKey(accounts, WANTED)
    await assert.rejects(createKey(accounts, WANTED), /the 5 keys that the plan starter allows/)
    assert.deepEqual(
      (await keysOf(user)).map(({ expiresAt }) => expiresAt),
      [null, null, null, null, null],
    )
  })

  it('is not revoked if several keys match, which the error lists', async () => {
    const prefix = `sk_live_${'ab'.repeat(4)}`
    const [first, second] = [
      await addKey({ prefix, name: 'one' }),
      await addKey({ prefix, name: 'two' }),
    ]
    const other = await addKey({ prefix: `sk_live_${'cd'.repeat(4)}` })
    for (const name of [prefix, prefix.slice(0, 10)]) {
      await assert.rejects(revokeKey(accounts, user.email, name), (error: Error) => {
        assert.match(error.message, /^2 keys of ada@example\.com begin with sk_live_ab.*:\n/)
        for (const { id, name: own } of [first, second]) {
          assert.match(error.message, new RegExp(`\n${prefix}  ${id}  ${own}(\n|$)`))
        }
        assert.equal(error.message.includes(other.id), false)
        return true
      })
    }
    assert.equal((await keysOf(user)).length, 3)
    assert.deepEqual(await audited(), [])
    await revokeKey(accounts, user.email, second.id)
    assert.equal((await keysOf(user)).length, 2)
  })

  it('is neither revoked nor renewed if it belongs to another user', async () => {
    const eve = await addUser('eve@example.com')
    const { id, prefix } = await addKey({ userId: eve.id })
    for (const name of [id, prefix]) {
      await assert.rejects(revokeKey(accounts, user.email, name), /ada@example\.com has no key/)
      await assert.rejects(renewKey(accounts, user.email, name), /ada@example\.com has no key/)
    }
    assert.equal((await keysOf(eve)).length, 1)
    assert.deepEqual(await audited(), [])
  })
})
