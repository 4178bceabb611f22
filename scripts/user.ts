import * as v from 'valibot'
import { listUsers } from '../lib/accounts/users.ts'
import { withAccounts } from './parts/accounts.ts'
import { checkOptions, Email, FLAG, readArguments, TEXT } from './parts/options.ts'
import { report, run } from './parts/run.ts'
import { textTable } from './parts/text-table.ts'
import { isoDay } from './parts/times.ts'
import { type UserWithPlan, userWithPlan } from './parts/user-with-plan.ts'

const USAGE = `Usage: npm run --silent user -- --email you@example.com --plan pro
  --email you@example.com  create the user, if new
  --plan free|starter|pro  set the plan; default for a new user: free
or
  --list                   list all users`

const UserOptions = v.strictObject({ email: Email, plan: v.optional(v.string()) })

const ListOptions = v.strictObject({ list: v.literal(true) }, 'cannot be used with --list')

await run(async () => {
  const { values } = readArguments({ options: { email: TEXT, plan: TEXT, list: FLAG } }, USAGE)
  if (values.list === undefined) {
    const options = checkOptions(UserOptions, { email: undefined, ...values }, USAGE)
    await withAccounts('npm run user', async (accounts) => {
      report(sentence(await userWithPlan(accounts, options)))
    })
  } else {
    checkOptions(ListOptions, values, USAGE)
    await withAccounts('npm run user', async ({ db }) => {
      process.stdout.write(userTable(await listUsers(db)))
    })
  }
})

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

/** All users as a table, oldest first. */
function userTable(users: Awaited<ReturnType<typeof listUsers>>): string {
  return textTable(
    users,
    {
      'E-mail': (user) => user.email,
      Plan: (user) => user.plan,
      Keys: (user) => String(user.keys),
      Verified: (user) => (user.emailVerified ? 'yes' : 'no'),
      Created: (user) => isoDay(user.createdAt),
    },
    ['Keys'],
  )
}
