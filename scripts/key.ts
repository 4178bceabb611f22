import { type Accounts, withAccounts } from './parts/accounts.ts'
import { readKeyCommand } from './parts/key-options.ts'
import { createKey, keyTable, renewKey, revokeKey } from './parts/keys.ts'
import { report, run } from './parts/run.ts'
import { isoSecond } from './parts/times.ts'

await run(async () => {
  const command = readKeyCommand()
  await withAccounts('npm run key', async (accounts) => {
    if ('name' in command) process.stdout.write(`${await createKey(accounts, command)}\n`)
    else await manageKeys(accounts, command)
  })
})

async function manageKeys(
  accounts: Accounts,
  { email, revoke, renew }: Exclude<ReturnType<typeof readKeyCommand>, { name: string }>,
): Promise<void> {
  if (revoke !== undefined) {
    const { prefix } = await revokeKey(accounts, email, revoke)
    report(`Revoked the key ${prefix} of ${email}`)
  } else if (renew !== undefined) {
    const { prefix, expiresAt } = await renewKey(accounts, email, renew)
    const end = expiresAt === null ? 'does not expire' : `expires ${isoSecond(expiresAt)}`
    report(`Renewed the key ${prefix} of ${email}: it ${end}`)
  } else {
    process.stdout.write(await keyTable(accounts, email))
  }
}
