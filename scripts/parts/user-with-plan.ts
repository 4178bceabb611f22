import {
  findUserByEmail,
  hasSignedUp,
  insertUser,
  newUser,
  type UserRow,
  updatePlan,
} from '../lib/accounts/users.ts'
import { unit } from '../lib/db/unit.ts'
import type { Plan, Plans } from '../lib/plans.ts'
import { type Accounts, audit } from './accounts.ts'
import { report } from './run.ts'

export interface UserWithPlan {
  readonly user: UserRow
  readonly plan: Plan
  readonly outcome: 'made' | 'changed' | 'kept'
}

/** Makes the user if new, and sets the plan if one is named. Throws where there is no such plan. */
export async function userWithPlan(
  accounts: Accounts,
  { email, plan: planId }: { readonly email: string; readonly plan?: string | undefined },
): Promise<UserWithPlan> {
  const { db, plans, now } = accounts
  const wanted = planId === undefined ? undefined : getPlan(plans, planId)
  const known = await findUserByEmail(db, email)
  if (known !== null) return setPlan(accounts, known, wanted)
  const plan = wanted ?? plans.free
  const user = newUser({ email, plan: plan.id, now })
  const row = audit(accounts, user.id, { action: 'create_user', detail: plan.id })
  if (await unit(db, [insertUser(db, user), row])) return { user, plan, outcome: 'made' }
  // Another process was faster.
  return setPlan(accounts, (await findUserByEmail(db, email)) ?? user, wanted)
}

async function setPlan(
  accounts: Accounts,
  user: UserRow,
  wanted: Plan | undefined,
): Promise<UserWithPlan> {
  const { db, plans } = accounts
  if (!user.emailVerified && (await hasSignedUp(db, user))) {
    report(
      `Warning: somebody signed up as ${user.email} without verifying the address: make sure that it is who you mean`,
    )
  }
  const plan = wanted ?? plans.ofUser(user.plan)
  if (plan.id === user.plan) return { user, plan, outcome: 'kept' }
  const row = audit(accounts, user.id, { action: 'change_plan', detail: plan.id })
  await unit(db, [updatePlan(db, user.id, plan.id), row])
  return { user, plan, outcome: 'changed' }
}

function getPlan(plans: Plans, id: string): Plan {
  const plan = plans.find(id)
  if (plan !== undefined) return plan
  const ids = plans.list.map((known) => known.id).join(', ')
  throw new Error(`--plan must be one of ${ids}, got "${id}"`)
}
