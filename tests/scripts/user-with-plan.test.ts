import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { findUserByEmail } from '../../lib/accounts/users.ts'
import { readPlans } from '../../lib/config/plans.ts'
import { apiKeys, auditLog, users } from '../../lib/db/tables.ts'
import type { Accounts } from '../../scripts/parts/accounts.ts'
import { createKey } from '../../scripts/parts/keys.ts'
import { userWithPlan } from '../../scripts/parts/user-with-plan.ts'
import { storeOfTest } from '../support/database/store.ts'
import { NOON } from '../support/helpers.ts'

const openStore = storeOfTest()

const email = 'ada@example.com'

let accounts: Accounts
beforeEach(async () => {
  const plans = readPlans(undefined)
  accounts = { db: (await openStore()).db, plans, now: NOON, command: 'npm run user' }
})

const actions = async () =>
  (await accounts.db.select().from(auditLog).all()).map(({ action, detail }) => [action, detail])

describe('a user created on the command line', () => {
  it('is created once by simultaneous processes, with the plan of the last one', async () => {
    const made = await Promise.all(
      ['free', 'starter', 'pro'].map((plan) => userWithPlan(accounts, { email, plan })),
    )
    assert.deepEqual(made.map(({ outcome }) => outcome).toSorted(), [
      'changed',
      'changed',
      'created',
    ])
    assert.equal(new Set(made.map(({ user }) => user.id)).size, 1)
    assert.equal((await accounts.db.select().from(users).all()).length, 1)
    const audited = await actions()
    assert.deepEqual(
      audited.map(([action]) => action),
      ['create_user', 'change_plan', 'change_plan'],
    )
    assert.deepEqual(audited.map(([, plan]) => plan).toSorted(), ['free', 'pro', 'starter'])
    assert.equal((await findUserByEmail(accounts.db, email))?.plan, audited.at(-1)?.[1])
  })

  it('keeps the plan if none is named', async () => {
    await userWithPlan(accounts, { email, plan: 'pro' })
    const { outcome, plan } = await userWithPlan(accounts, { email: 'ADA@example.com' })
    assert.deepEqual([outcome, plan.id], ['kept', 'pro'])
    assert.equal((await actions()).length, 1)
  })

  it('has keys that expire by the plan: never while it is paid, else a year after the change', async () => {
    const key = { name: 'made', type: 'secret', scopes: undefined, origins: undefined } as const
    await createKey(accounts, { ...key, email, plan: 'free' })
    const change = async (plan: string, now: number) => {
      await userWithPlan({ ...accounts, now }, { email, plan })
      return (await accounts.db.select({ end: apiKeys.expiresAt }).from(apiKeys).get())?.end
    }
    assert.equal(await change('pro', NOON + 1), null)
    assert.equal(await change('free', NOON + 2), Date.UTC(2027, 0, 15, 12) + 2)
    assert.equal(await change('free', NOON + 3), Date.UTC(2027, 0, 15, 12) + 2)
  })

  it('is not created with an unknown plan', async () => {
    await assert.rejects(userWithPlan(accounts, { email, plan: 'gold' }), /got "gold"$/)
    assert.equal(await findUserByEmail(accounts.db, email), null)
  })
})
