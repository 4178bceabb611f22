import { type Accounts, withAccounts } from './accounts.ts'
import { createKey } from './create-key.ts'
import { type KeyCommand, readKeyCommand } from './key-options.ts'
import { keyTable, renewKey, revokeKey } from './owned-keys.ts'
import { report, run } from './run.ts'
import { isoSecond } from './times.ts'

await run(async () => {
  const command = readKeyCommand(process.argv.slice(2))
  await withAccounts('npm run key', (accounts) => obey(accounts, command))
})

async function obey(accounts: Accounts, command: KeyCommand): Promise<void> {
  switch (command.action) {
    case 'create':
      process.stdout.write(`${await createKey(accounts, command.options)}\n`)
      return
    case 'list':
      process.stdout.write(await keyTable(accounts, command.email))
      return
    case 'revoke': {
      const { prefix } = await revokeKey(accounts, command.email, command.key)
      report(`Revoked the key ${prefix} of ${command.email}`)
      return
    }
    case 'renew': {
      const { prefix, expiresAt } = await renewKey(accounts, command.email, command.key)
      const end = expiresAt === null ? 'does not expire' : `expires ${isoSecond(expiresAt)}`
      report(`Renewed the key ${prefix} of ${command.email}: it ${end}`)
    }
  }
}
