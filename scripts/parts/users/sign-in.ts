import { hashPassword, whyRefused } from '../../../lib/access/sign-in/passwords.ts'
import {
  endSignIns,
  insertResetToken,
  resetLink,
} from '../../../lib/access/sign-in/reset-tokens.ts'
import { setPassword } from '../../../lib/access/stored-password.ts'
import { removeSecondFactor } from '../../../lib/accounts/second-factor/second-factor.ts'
import { findUserByEmail, type UserRow } from '../../../lib/accounts/users.ts'
import { createNotify, type Notify } from '../../../lib/contact/account-mails.ts'
import { runInTransaction } from '../../../lib/db/transaction.ts'
import { audit, type ConfiguredAccounts } from '../accounts.ts'
import { askSecret, isInteractive } from './ask.ts'

/** Sets the password that is typed or piped in, and ends all sessions. Returns what was done. */
export async function setPasswordOf(accounts: ConfiguredAccounts, email: string): Promise<string> {
  const { db, now } = accounts
  const user = await getOwnUser(accounts, email)
  const password = await askPassword(user)
  const hash = await hashPassword(password)
  await runInTransaction(db, [
    setPassword(db, user.id, { hash, app: 'cli', now }),
    ...endSignIns(db, user.id),
    ...notifyBy(accounts)(user.id, 'password_changed', now),
  ])
  return `Set the password of ${user.email}, and ended all sessions`
}

/** Turns off the second factor of somebody who lost it. Returns what was done. */
export async function resetSecondFactor(
  accounts: ConfiguredAccounts,
  email: string,
): Promise<string> {
  const { db, now } = accounts
  const user = await getOwnUser(accounts, email)
  const isReset = await runInTransaction(db, [
    removeSecondFactor(db, user.id),
    audit(accounts, user.id, { action: 'disable_two_factor' }),
    ...notifyBy(accounts)(user.id, 'second_factor_off', now),
  ])
  return isReset
    ? `Turned off the second factor of ${user.email}`
    : `${user.email} has no second factor`
}

/** Returns a link with which the owner of the account sets a password. */
export async function claimLink(accounts: ConfiguredAccounts, email: string): Promise<string> {
  const { config, db, now } = accounts
  const user = await getOwnUser(accounts, email)
  const { token, statement } = insertResetToken(db, user.id, now)
  await runInTransaction(db, [statement, audit(accounts, user.id, { action: 'link_account' })])
  const host = config.host.includes(':') ? `[${config.host}]` : config.host
  const base = config.baseUrl ?? `http://${host}:${config.port}`
  return resetLink(base, token)
}

/** The running server sends the notices. */
function notifyBy({ config, db }: ConfiguredAccounts): Notify {
  return createNotify(db, config.smtpUrl !== undefined)
}

/** Throws if there is no such user, or if the auth service keeps the passwords. */
async function getOwnUser({ config, db }: ConfiguredAccounts, email: string): Promise<UserRow> {
  const { authUrl } = config
  if (authUrl !== undefined) throw new Error(`Passwords are kept by the auth service, ${authUrl}`)
  const user = await findUserByEmail(db, email)
  if (user === null) throw new Error(`There is no user ${email}`)
  return user
}

async function askPassword(user: UserRow): Promise<string> {
  const password = await askSecret(`New password of ${user.email}: `)
  const refusal = await whyRefused(password, user)
  if (refusal !== null) throw new Error(refusal)
  if (isInteractive() && (await askSecret('Repeat it: ')) !== password) {
    throw new Error('The passwords differ: nothing was changed')
  }
  return password
}
