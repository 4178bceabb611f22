import { alignKeyExpiry } from '../../lib/access/key-expiry.ts'
import {
  findUserByEmail,
  hasSignedUp,
  insertUser,
  isVouchedFor,
  newUser,
  type UserRow,
  updatePlan,
} from '../../lib/accounts/users.ts'
import type { Plan, Plans } from '../../lib/config/plans.ts'
import { runInTransaction } from '../../lib/db/transaction.ts'
import { type Accounts, audit } from './accounts.ts'
import { report } from './run.ts'

export type UserWithPlan = Awaited<ReturnType<typeof userWithPlan>>

/** Creates the user if needed, with the plan of the house unless one is given. Throws if the plan is unknown. */
export async function userWithPlan(
  accounts: Accounts,
  { email, plan: planId }: { readonly email: string; readonly plan?: string | undefined },
) {
  const { db, plans, now } = accounts
  const wanted = planId === undefined ? undefined : getPlan(plans, planId)
  const known = await findUserByEmail(db, email)
  if (known !== null) return setPlan(accounts, known, wanted)
  const plan = wanted ?? plans.house
  const user = newUser({ email, plan: plan.id, now })
  const row = audit(accounts, user.id, { action: 'create_user', detail: plan.id })
  if (await runInTransaction(db, [insertUser(db, user), row])) {
    return { user, plan, outcome: 'created' as const }
  }
  // Another process created the user first.
  return setPlan(accounts, (await findUserByEmail(db, email)) ?? user, wanted)
}

async function setPlan(accounts: Accounts, user: UserRow, wanted: Plan | undefined) {
  const { db, plans, now } = accounts
  if (await mayBeStranger(accounts, user)) {
    report(
      `Warning: somebody signed up as ${user.email} without verifying the address: make sure that this is the right person`,
    )
  }
  const plan = wanted ?? plans.ofUser(user.plan)
  if (plan.id === user.plan) return { user, plan, outcome: 'kept' as const }
  const row = audit(accounts, user.id, { action: 'change_plan', detail: plan.id })
  await runInTransaction(db, [
    updatePlan(db, user.id, plan.id),
    alignKeyExpiry(db, plans, now, user.id),
    row,
  ])
  return { user, plan, outcome: 'changed' as const }
}

/** Anybody can sign up with any address. Accounts that an operator made are the operator's own doing. */
async function mayBeStranger({ db }: Accounts, user: UserRow): Promise<boolean> {
  if (user.emailVerified || !(await hasSignedUp(db, user))) return false
  return user.remoteId !== null || !(await isVouchedFor(db, user.id))
}

function getPlan(plans: Plans, id: string): Plan {
  const plan = plans.assignable.find((known) => known.id === id)
  if (plan !== undefined) return plan
  const ids = plans.assignable.map((known) => known.id).join(', ')
  throw new Error(`--plan must be one of ${ids}, got "${id}"`)
}
