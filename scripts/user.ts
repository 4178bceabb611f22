import { commandText } from '../lib/parts/clone-or-package.ts'
import { type ConfiguredAccounts, withAccounts } from './parts/accounts.ts'
import { report, run } from './parts/run.ts'
import { readUserCommand, type UserCommand } from './parts/users/command.ts'
import { removeUser } from './parts/users/remove.ts'
import { setUser } from './parts/users/set.ts'
import { claimLink, resetSecondFactor, setPasswordOf } from './parts/users/sign-in.ts'
import { userJson, userTable } from './parts/users/table.ts'

await run(async () => {
  const command = readUserCommand()
  const isNew = command.action === 'set' ? 'create' : 'refuse'
  await withAccounts(commandText('user'), (accounts) => act(accounts, command), isNew)
})

async function act(accounts: ConfiguredAccounts, command: UserCommand): Promise<void> {
  switch (command.action) {
    case 'list':
      process.stdout.write(command.json ? await userJson(accounts) : await userTable(accounts))
      return
    case 'link': {
      const link = await claimLink(accounts, command.email)
      report(
        `Valid once, until an hour from now. Whoever opens it can sign in as ${command.email}:`,
      )
      process.stdout.write(`${link}\n`)
      return
    }
    case 'set-password':
      report(await setPasswordOf(accounts, command.email))
      return
    case 'reset-second-factor':
      report(await resetSecondFactor(accounts, command.email))
      return
    case 'delete':
      report(await removeUser(accounts, command))
      return
    case 'set':
      for (const line of await setUser(accounts, command)) report(line)
  }
}
