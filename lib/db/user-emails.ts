import { inArray } from './drizzle.ts'
import type { Queries } from './queries.ts'
import { users } from './tables.ts'

/**
 * Returns the rows, each with the e-mail address of its user; null if the user does not exist. This takes a
 * query of its own, because for a join Citus would copy all users.
 */
export async function withEmails<Row>(
  db: Queries,
  rows: readonly Row[],
  userIdOf: (row: Row) => string,
): Promise<(Row & { email: string | null })[]> {
  const ids = [...new Set(rows.map(userIdOf))]
  const { id, email } = users
  const known = await db.select({ id, email }).from(users).where(inArray(id, ids)).all()
  const emails = new Map(known.map((user) => [user.id, user.email]))
  return rows.map((row) => ({ ...row, email: emails.get(userIdOf(row)) ?? null }))
}
