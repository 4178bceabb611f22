import { endOf } from '../lib/access/keys.ts'
import { findUserByEmail, hasSignedUp } from '../lib/accounts/users.ts'
import { commandText } from '../lib/parts/clone-or-package.ts'
import { type Accounts, type ConfiguredAccounts, withAccounts } from './parts/accounts.ts'
import { readKeyCommand } from './parts/key-options.ts'
import {
  createKey,
  endText,
  keyJson,
  keyTable,
  renewKey,
  revokeKey,
  rotateKey,
} from './parts/keys.ts'
import { report, run } from './parts/run.ts'

await run(async () => {
  const command = readKeyCommand()
  const act = async (accounts: ConfiguredAccounts) => {
    if (!('name' in command)) return manageKeys(accounts, command)
    const text = await createKey(accounts, command)
    process.stdout.write(`${text}\n`)
    await explainSignIn(accounts, command.email)
  }
  await withAccounts(commandText('key'), act, 'name' in command ? 'create' : 'refuse')
})

/** Says how the owner of the key gets into the dashboard, unless there is a way already. */
async function explainSignIn({ config, db }: ConfiguredAccounts, email: string): Promise<void> {
  const user = await findUserByEmail(db, email)
  if (config.authUrl !== undefined || user === null || (await hasSignedUp(db, user))) return
  report(
    `To sign in to the dashboard as ${user.email}: ${commandText('user', `--email ${user.email} --link`)}`,
  )
}

async function manageKeys(
  accounts: Accounts,
  {
    email,
    revoke,
    renew,
    rotate,
    json,
  }: Exclude<ReturnType<typeof readKeyCommand>, { name: string }>,
): Promise<void> {
  if (revoke !== undefined) {
    const { prefix } = await revokeKey(accounts, email, revoke)
    report(`Revoked the key ${prefix} of ${email}`)
  } else if (renew !== undefined) {
    const key = await renewKey(accounts, email, renew)
    const end = endOf(key) === null ? 'never expires' : `expires ${endText(key)}`
    report(`Renewed the key ${key.prefix} of ${email}: it ${end}`)
  } else if (rotate !== undefined) {
    process.stdout.write(`${await rotateKey(accounts, email, rotate)}\n`)
  } else {
    process.stdout.write(
      json === true ? await keyJson(accounts, email) : await keyTable(accounts, email),
    )
  }
}
