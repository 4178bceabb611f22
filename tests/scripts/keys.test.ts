import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { mintKey } from '../../lib/access/api-key.ts'
import { insertKey, type KeyRow, listKeys, newKey } from '../../lib/access/keys.ts'
import { findUserByEmail, insertUser, newUser, type UserRow } from '../../lib/accounts/users.ts'
import { insertCustomer } from '../../lib/billing/subscription/customers.ts'
import { saveSubscription } from '../../lib/billing/subscription/subscriptions.ts'
import { readPlans } from '../../lib/config/plans.ts'
import { apiKeys, auditLog, users } from '../../lib/db/tables.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'
import type { Accounts } from '../../scripts/parts/accounts.ts'
import { createKey, keyTable, renewKey, revokeKey, rotateKey } from '../../scripts/parts/keys.ts'
import { userWithPlan } from '../../scripts/parts/user-with-plan.ts'
import { storeOfTest } from '../support/database/store.ts'
import { NOON } from '../support/helpers.ts'

const openStore = storeOfTest()

const YEAR_LATER = Date.UTC(2027, 0, 15, 12)

const BOUGHT = {
  ...{ id: 'sub_1', itemId: 'si_1', plan: 'starter', status: 'active', interval: 'month' as const },
  ...{ periodStart: NOON, periodEnd: NOON + 1, cancelAt: null, trialEnd: null },
  ...{ overages: false, overageItemId: null, priceId: null, currency: null },
}

const KEY = { name: 'made', type: 'secret', scopes: null, origins: undefined } as const
const WANTED = { ...KEY, email: 'ada@example.com', plan: undefined }

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
const audited = () => accounts.db.select().from(auditLog).orderBy(auditLog.id).all()

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
    const cells = lines.map((line) => line.replaceAll(/ {2,}/g, '|'))
    assert.deepEqual(cells, [
      `${first.prefix}|${first.id}|secret|expired|${made}|2026-01-15T11:59:59Z|${made}|all|-|first key`,
      `${second.prefix}|${second.id}|publishable|active|${made}|never|2027-01-15T12:00:00Z|geo:read|https://a.example,https://*.b.example|test`,
      '',
    ])
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
    const entries = (await audited()).map(({ action, targetId }) => `${action} ${targetId}`)
    assert.deepEqual(entries, [`renew_key ${id}`])
  })

  it('is rotated once, goes on working for a day, and is audited', async () => {
    const old = await addKey({ scopes: ['geo:read'] })
    const text = await rotateKey(accounts, user.email, old.id)
    assert.match(text, /^sk_live_[0-9a-f]{64}$/)
    const [left, made] = await keysOf(user)
    assert.deepEqual([left?.replacedBy, left?.endsAt], [made?.id, NOON + DAY_MS])
    assert.deepEqual([made?.name, made?.scopes, made?.endsAt], [old.name, old.scopes, null])
    assert.ok(text.startsWith(made?.prefix ?? '-'))
    const entries = (await audited()).map(({ action, targetId }) => `${action} ${targetId}`)
    assert.deepEqual(entries, [`rotate_key ${old.id}`])
    await assert.rejects(rotateKey(accounts, user.email, old.id), /already been replaced/)
  })

  it('expires by the paid plan when created and when renewed', async () => {
    const { db } = accounts
    await insertCustomer(db, { userId: user.id, customerId: 'cus_1', createdAt: NOON }).run()
    await saveSubscription(db, { userId: user.id, ...BOUGHT }).run()
    const { id } = await addKey({ expiresAt: NOON - 1 })
    assert.equal((await renewKey(accounts, user.email, id)).expiresAt, null)
    for (let made = 2; made <= 5; made++) await createKey(accounts, WANTED)
    await assert.rejects(createKey(accounts, WANTED), /the 5 keys that the plan starter allows/)
    const expiries = (await keysOf(user)).map(({ expiresAt }) => expiresAt)
    assert.deepEqual(expiries, [null, null, null, null, null])
  })

  it('is not revoked if several keys match, which the error lists', async () => {
    const prefix = `sk_live_${'ab'.repeat(4)}`
    const first = await addKey({ prefix, name: 'one' })
    const second = await addKey({ prefix, name: 'two' })
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

  it('is not revoked, renewed or rotated if it belongs to another user', async () => {
    const eve = await addUser('eve@example.com')
    const { id, prefix } = await addKey({ userId: eve.id })
    for (const name of [id, prefix]) {
      await assert.rejects(revokeKey(accounts, user.email, name), /ada@example\.com has no key/)
      await assert.rejects(renewKey(accounts, user.email, name), /ada@example\.com has no key/)
      await assert.rejects(rotateKey(accounts, user.email, name), /ada@example\.com has no key/)
    }
    assert.equal((await keysOf(eve)).length, 1)
    assert.deepEqual(await audited(), [])
  })
})

describe('a user created on the command line', () => {
  const email = 'eve@example.com'
  const actions = async () => (await audited()).map(({ action, detail }) => [action, detail])

  it('is created once by simultaneous processes, with the plan of the last one', async () => {
    const made = await Promise.all(
      ['free', 'starter', 'pro'].map((plan) => userWithPlan(accounts, { email, plan })),
    )
    const outcomes = made.map(({ outcome }) => outcome).toSorted()
    assert.deepEqual(outcomes, ['changed', 'changed', 'created'])
    assert.equal(new Set(made.map(({ user }) => user.id)).size, 1)
    const stored = await accounts.db.select().from(users).all()
    assert.equal(stored.filter((row) => row.email === email).length, 1)
    const entries = await actions()
    const names = entries.map(([action]) => action)
    assert.deepEqual(names, ['create_user', 'change_plan', 'change_plan'])
    assert.deepEqual(entries.map(([, plan]) => plan).toSorted(), ['free', 'pro', 'starter'])
    assert.equal((await findUserByEmail(accounts.db, email))?.plan, entries.at(-1)?.[1])
  })

  it('keeps the plan if none is named', async () => {
    await userWithPlan(accounts, { email, plan: 'pro' })
    const { outcome, plan } = await userWithPlan(accounts, { email: 'EVE@example.com' })
    assert.deepEqual([outcome, plan.id], ['kept', 'pro'])
    assert.equal((await actions()).length, 1)
  })

  it('has keys that expire by the plan: never while it is paid, else a year after the change', async () => {
    await createKey(accounts, { ...KEY, email, plan: 'free' })
    const change = async (plan: string, now: number) => {
      await userWithPlan({ ...accounts, now }, { email, plan })
      return (await accounts.db.select({ end: apiKeys.expiresAt }).from(apiKeys).get())?.end
    }
    assert.equal(await change('pro', NOON + 1), null)
    assert.equal(await change('free', NOON + 2), YEAR_LATER + 2)
    assert.equal(await change('free', NOON + 3), YEAR_LATER + 2)
  })

  it('is not created with an unknown plan', async () => {
    await assert.rejects(userWithPlan(accounts, { email, plan: 'gold' }), /got "gold"$/)
    assert.equal(await findUserByEmail(accounts.db, email), null)
  })
})
