import { setTimeout as sleep } from 'node:timers/promises'
import {
  findDeletionRequest,
  requestDeletion,
  withdrawDeletion,
} from '../../../lib/accounts/deletion-requests.ts'
import { findUserByEmail, type UserRow } from '../../../lib/accounts/users.ts'
import { createOverages } from '../../../lib/billing/overages/overages.ts'
import { MINUTE_MS } from '../../../lib/parts/durations.ts'
import { normaliseEmail } from '../../../lib/parts/email-address.ts'
import { createDeleteAccount, type DeleteAccount } from '../../../lib/services/delete-account.ts'
import { auditEvent, type ConfiguredAccounts } from '../accounts.ts'
import { openBilling } from '../billing.ts'
import { report } from '../run.ts'
import { ask } from './ask.ts'

const POLL_MS = 100

/** Deletes the account, after its subscription at Stripe has ended. Returns what was done. */
export async function removeUser(
  accounts: ConfiguredAccounts,
  { email, yes }: { readonly email: string; readonly yes?: true | undefined },
): Promise<string> {
  const user = await findUserByEmail(accounts.db, email)
  if (user === null) throw new Error(`There is no user ${email}`)
  if (yes !== true) await confirm(user)
  // Running servers have in memory the counts of requests that must be charged first.
  using lock = await accounts.lock()
  await (lock === null ? letServerRemove(accounts, user.id) : removeHere(accounts, user))
  return `Deleted the account ${user.email}`
}

async function confirm({ email }: UserRow): Promise<void> {
  report(`This deletes all keys, sites and data of ${email} for good`)
  const typed = await ask('Type the address to go on: ', 'give --yes to go on')
  if (normaliseEmail(typed) !== email) throw new Error('The address differs: nothing was deleted')
}

async function removeHere(accounts: ConfiguredAccounts, { id, email }: UserRow): Promise<void> {
  const event = auditEvent(accounts, id, { action: 'delete_account' })
  if (!(await openDeleteAccount(accounts)(id, event))) throw new Error(`${email} is gone already`)
}

function openDeleteAccount(accounts: ConfiguredAccounts): DeleteAccount {
  const { config, db } = accounts
  const billing = openBilling(accounts, config.stripe)
  const overages = createOverages({
    billing,
    flush: async () => {},
    now: () => accounts.now,
    onRefused: () => {},
  })
  const baseUrl = () => config.baseUrl ?? `http://${config.host}:${config.port}`
  return createDeleteAccount({
    db,
    baseUrl,
    keys: { changeBy: (work) => work() },
    billing,
    overages,
  })
}

/** Throws if the server refuses, or does nothing for a minute. */
async function letServerRemove({ db, command }: ConfiguredAccounts, userId: string): Promise<void> {
  await requestDeletion(db, userId, command)
  for (const end = Date.now() + MINUTE_MS; Date.now() < end; await sleep(POLL_MS)) {
    const asked = await findDeletionRequest(db, userId)
    if (asked === null) return
    if (asked.refusal === null) continue
    await withdrawDeletion(db, userId)
    throw new Error(`The server refuses: ${asked.refusal}`)
  }
  await withdrawDeletion(db, userId)
  throw new Error('The server has not deleted the account within a minute: see its log')
}
