import { findUserByEmail, normaliseEmail, type UserRow } from '../../../lib/accounts/users.ts'
import { createOverages } from '../../../lib/billing/overages/overages.ts'
import { createEndAccount, type EndAccount } from '../../../lib/services/account-ending.ts'
import { auditEvent, type ConfiguredAccounts } from '../accounts.ts'
import { openBilling } from '../billing.ts'
import { report } from '../run.ts'
import { ask } from './ask.ts'

/** Deletes the account, after its subscription at Stripe has ended. Returns what was done. */
export async function removeUser(
  accounts: ConfiguredAccounts,
  { email, yes }: { readonly email: string; readonly yes?: true | undefined },
): Promise<string> {
  const user = await findUserByEmail(accounts.db, email)
  if (user === null) throw new Error(`There is no user ${email}`)
  if (yes !== true) await confirm(user)
  const event = auditEvent(accounts, user.id, { action: 'delete_account' })
  if (!(await openEnding(accounts)(user.id, event)))
    throw new Error(`${user.email} is gone already`)
  return `Deleted the account ${user.email}`
}

async function confirm({ email }: UserRow): Promise<void> {
  report(`This deletes all keys, sites and data of ${email} for good`)
  const typed = await ask('Type the address to go on: ')
  if (normaliseEmail(typed) !== email) throw new Error('The address differs: nothing was deleted')
}

/** A running server notices that the keys are gone; what it counts meanwhile is dropped. */
function openEnding(accounts: ConfiguredAccounts): EndAccount {
  const { config, db } = accounts
  const billing = openBilling(accounts, config.stripe)
  const overages = createOverages({
    billing,
    flush: async () => {},
    now: () => accounts.now,
    onRefused: () => {},
  })
  const baseUrl = () => config.baseUrl ?? `http://${config.host}:${config.port}`
  return createEndAccount({ db, baseUrl, keys: { changeBy: (work) => work() }, billing, overages })
}
