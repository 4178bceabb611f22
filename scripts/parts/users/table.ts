import { listUsers } from '../../../lib/accounts/users.ts'
import type { Accounts } from '../accounts.ts'
import { jsonText } from '../json-text.ts'
import { textTable } from '../text-table.ts'
import { isoDay } from '../times.ts'

/** All users as a table, oldest first. */
export async function userTable({ db }: Pick<Accounts, 'db'>): Promise<string> {
  return textTable(
    await listUsers(db),
    {
      'E-mail': (user) => user.email,
      Plan: (user) => user.plan,
      Role: (user) => user.role,
      Keys: (user) => String(user.keys),
      Verified: (user) => (user.emailVerified ? 'yes' : 'no'),
      Created: (user) => isoDay(user.createdAt),
    },
    ['Keys'],
  )
}

/** The same as JSON. */
export async function userJson({ db }: Pick<Accounts, 'db'>): Promise<string> {
  const users = await listUsers(db)
  return jsonText(
    users.map((user) => ({ ...user, createdAt: new Date(user.createdAt).toISOString() })),
  )
}
