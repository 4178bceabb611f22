import * as v from 'valibot'
import { listUsers } from '../lib/accounts/users.ts'
import { type Accounts, withAccounts } from './accounts.ts'
import { checkOptions, Email, FLAG, splitOptions, TEXT } from './options.ts'
import { report, run } from './run.ts'
import { type Column, textTable } from './text-table.ts'
import { isoDay } from './times.ts'
import { type UserWithPlan, userWithPlan } from './user-with-plan.ts'

const USAGE = `Usage: npm run --silent user -- --email you@example.com --plan pro
  --email you@example.com  make the user, if new
  --plan free|starter|pro  set the plan; default for a new user: free
or
  --list                   list all users`

const UserOptions = v.strictObject({ email: Email, plan: v.optional(v.string()) })

const ListOptions = v.strictObject({ list: v.literal(true) }, 'cannot be used with --list')

const COLUMNS: readonly Column[] = [
  { title: 'E-mail', align: 'left' },
  { title: 'Plan', align: 'left' },
  { title: 'Keys', align: 'right' },
  { title: 'Verified', align: 'left' },
  { title: 'Created', align: 'left' },
]

await run(async () => {
  const args = process.argv.slice(2)
  const values = splitOptions(args, { email: TEXT, plan: TEXT, list: FLAG }, USAGE)
  if (values.list === undefined) {
    const options = checkOptions(UserOptions, { email: undefined, ...values }, USAGE)
    await withAccounts('npm run user', async (accounts) => {
      report(sentence(await userWithPlan(accounts, options)))
    })
    return
  }
  checkOptions(ListOptions, values, USAGE)
  await withAccounts('npm run user', async (accounts) => {
    process.stdout.write(await userTable(accounts))
  })
})

function sentence({ user, plan, outcome }: UserWithPlan): string {
  switch (outcome) {
    case 'made':
      return `Made the user ${user.email}, plan ${plan.id}`
    case 'changed':
      return `Changed the plan of ${user.email} from ${user.plan} to ${plan.id}`
    case 'kept':
      return `${user.email} has the plan ${plan.id}`
  }
}

/** All users as a table, oldest first. */
async function userTable({ db }: Accounts): Promise<string> {
  const users = await listUsers(db)
  const cells = users.map(({ email, plan, keys, emailVerified, createdAt }) => [
    email,
    plan,
    String(keys),
    emailVerified ? 'yes' : 'no',
    isoDay(createdAt),
  ])
  return textTable(COLUMNS, cells)
}
