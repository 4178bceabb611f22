import { updateRole } from '../lib/accounts/users.ts'
import { runInTransaction } from '../lib/db/transaction.ts'
import { commandText } from '../lib/parts/clone-or-package.ts'
import { type Accounts, audit, type ConfiguredAccounts, withAccounts } from './parts/accounts.ts'
import { report, run } from './parts/run.ts'
import { type UserWithPlan, userWithPlan } from './parts/user-with-plan.ts'
import { readUserCommand, type SetOptions, type UserCommand } from './parts/users/command.ts'
import { removeUser } from './parts/users/remove.ts'
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

/** Creates the user, if new, and sets plan and role. Returns what was done, in sentences. */
async function setUser(accounts: Accounts, options: SetOptions): Promise<string[]> {
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
