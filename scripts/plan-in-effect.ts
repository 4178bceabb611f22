import { findSessionUser } from '../lib/access/session.ts'
import { toEntitlement } from '../lib/entitlement.ts'
import type { Plan } from '../lib/plans.ts'
import type { Accounts } from './accounts.ts'

/** The plan that the user pays for, or else has been given. */
export async function planInEffect({ db, plans }: Accounts, userId: string): Promise<Plan> {
  const user = await findSessionUser(db, userId)
  return user === null ? plans.free : toEntitlement(user, plans).plan
}
