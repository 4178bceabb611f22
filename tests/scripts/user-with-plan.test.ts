import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { findUserByEmail } from '../../lib/accounts/users.ts'
import { openDb } from '../../lib/db/open.ts'
import { auditLog, users } from '../../lib/db/tables.ts'
import { readPlans } from '../../lib/plans.ts'
import type { Accounts } from '../../scripts/accounts.ts'
import { userWithPlan } from '../../scripts/user-with-plan.ts'
import { NOON } from '../helpers.ts'

const email = 'ada@example.com'

let accounts: Accounts
beforeEach(() => {
  const plans = readPlans(undefined)
  accounts = { db: openDb(':memory:'), plans, now: NOON, command: 'npm run user' }
})

const actions = () =>
  accounts.db
    .select()
    .from(auditLog)
    .all()
    .map(({ action, detail }) => [action, detail])

describe('a user of the command line', () => {
  it('is made once where several make the same at once, with the plan of the last', async () => {
    const made = await Promise.all(
      ['free', 'starter', 'pro'].map((plan) => userWithPlan(accounts, { email, plan })),
    )
    assert.deepEqual(
      made.map(({ outcome, plan }) => [outcome, plan.id]),
      [
        ['made', 'free'],
        ['changed', 'starter'],
        ['changed', 'pro'],
      ],
    )
    assert.equal(new Set(made.map(({ user }) => user.id)).size, 1)
    assert.equal(accounts.db.select().from(users).all().length, 1)
    assert.equal((await findUserByEmail(accounts.db, email))?.plan, 'pro')
    assert.deepEqual(actions(), [
      ['create_user', 'free'],
      ['change_plan', 'starter'],
      ['change_plan', 'pro'],
    ])
  })

  it('keeps the plan where none is named', async () => {
    await userWithPlan(accounts, { email, plan: 'pro' })
    const { outcome, plan } = await userWithPlan(accounts, { email: 'ADA@example.com' })
    assert.deepEqual([outcome, plan.id], ['kept', 'pro'])
    assert.equal(actions().length, 1)
  })

  it('is not made with a plan that is none', async () => {
    await assert.rejects(userWithPlan(accounts, { email, plan: 'gold' }), /got "gold"$/)
    assert.equal(await findUserByEmail(accounts.db, email), null)
  })
})
