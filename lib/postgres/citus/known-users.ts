import type { Uses } from '../../db/uses.ts'
import type { PgConnection } from '../connection.ts'

/**
 * Leaves out what was counted for users who have been deleted meanwhile. On one server, triggers do that, but
 * Citus does not allow them on distributed tables. A deletion waits until the counts are committed.
 */
export async function keepKnownUsers(connection: PgConnection, uses: Uses): Promise<Uses> {
  const { operations, users } = uses
  const ids = [...operations, ...users].map(({ userId }) => userId)
  const { rows } = await connection.query(
    'SELECT id FROM users WHERE id = ANY ($1::text[]) ORDER BY id FOR KEY SHARE',
    [[...new Set(ids)]],
  )
  const known = new Set(rows.map(([id]) => String(id)))
  const isKnown = ({ userId }: { readonly userId: string }) => known.has(userId)
  return {
    ...uses,
    operations: operations.filter(isKnown),
    users: users.filter(isKnown),
  }
}
