import { listUsers } from '../../../lib/accounts/users.ts'
import { planInEffect } from '../../../lib/config/entitlement.ts'
import type { Accounts } from '../accounts.ts'
import { jsonText } from '../json-text.ts'
import { textTable } from '../text-table.ts'
import { isoDay } from '../times.ts'

type Listed = Pick<Accounts, 'db' | 'plans'>

/** All users as a table, oldest first. */
export async function userTable(accounts: Listed): Promise<string> {
  return textTable(
    await listWithPlans(accounts),
    {
      'E-mail': (user) => user.email,
      Plan: (user) => user.plan,
      // The plan without the subscription, where that makes a difference.
      Assigned: (user) => (user.assignedPlan === user.plan ? '' : user.assignedPlan),
      Role: (user) => user.role,
      Keys: (user) => String(user.keys),
      Verified: (user) => (user.emailVerified ? 'yes' : 'no'),
      Created: (user) => isoDay(user.createdAt),
    },
    ['Keys'],
  )
}

/** The same as JSON. */
export async function userJson(accounts: Listed): Promise<string> {
  const users = await listWithPlans(accounts)
  return jsonText(
    users.map((user) => ({ ...user, createdAt: new Date(user.createdAt).toISOString() })),
  )
}

/** The users with the plan in effect, which is the one they pay for, or else the assigned one. */
async function listWithPlans({ db, plans }: Listed) {
  const users = await listUsers(db)
  return users.map(({ email, assignedPlan, subscribed, ...user }) => {
    const plan = planInEffect({ assignedPlan, subscribed }, plans).id
    return { email, plan, assignedPlan, ...user }
  })
}
