import { updateRole } from '../../../lib/accounts/users.ts'
import { runInTransaction } from '../../../lib/db/transaction.ts'
import { type Accounts, audit } from '../accounts.ts'
import { type UserWithPlan, userWithPlan } from '../user-with-plan.ts'
import type { SetOptions } from './command.ts'

/** Creates the user, if new, and sets plan and role. Returns what was done, in sentences. */
export async function setUser(accounts: Accounts, options: SetOptions): Promise<string[]> {
  const done = await userWithPlan(accounts, options)
  const { role } = options
  if (role === undefined) return [sentence(done)]
  const roleSet = await setRole(accounts, done.user, role)
  // The plan in effect may be another one, which the user has bought.
  if (done.outcome === 'kept' && options.plan === undefined) return [roleSet]
  return [sentence(done), roleSet]
}

function sentence({ user, plan, outcome }: UserWithPlan): string {
  switch (outcome) {
    case 'created':
      return `Created the user ${user.email}, plan ${plan.id}`
    case 'changed':
      return `Changed the plan of ${user.email} from ${user.plan} to ${plan.id}`
    case 'kept':
      return `${user.email} has the plan ${plan.id}`
  }
}

async function setRole(
  accounts: Accounts,
  user: UserWithPlan['user'],
  role: NonNullable<SetOptions['role']>,
): Promise<string> {
  if (user.role === role) return `${user.email} has the role ${role}`
  await runInTransaction(accounts.db, [
    updateRole(accounts.db, user.id, role),
    audit(accounts, user.id, { action: 'set_role', detail: role }),
  ])
  return `Changed the role of ${user.email} from ${user.role} to ${role}`
}
