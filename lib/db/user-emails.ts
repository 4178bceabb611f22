import { inArray } from './drizzle.ts'
import type { Queries } from './queries.ts'
import { users } from './tables.ts'

/**
 * Adds the address of each row's user; null: there is no such user. A query of its own, because Citus would copy
 * all users to join them.
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
