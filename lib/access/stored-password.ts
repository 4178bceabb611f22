import { eq } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import type { Queries } from '../db/queries.ts'
import { accounts, users } from '../db/tables.ts'

/** Finds the user who can sign in with this e-mail address, in the form that we store, and the hash of the password. */
export async function findPassword(db: Queries, email: string) {
  return db
    .select({ userId: users.id, hash: accounts.password })
    .from(users)
    .innerJoin(accounts, eq(accounts.userId, users.id))
    .where(eq(users.email, email))
    .get()
}

/** A new password, and the app that sets it, for the audit log. */
export interface NewPassword {
  readonly hash: string
  readonly app: 'api' | 'dashboard' | 'cli'
  readonly now: number
}

/** Stores the user's new password, even if the user had none. A trigger adds the audit row. */
export function setPassword(db: Db, userId: string, { hash, app, now }: NewPassword) {
  const ids = { id: crypto.randomUUID(), userId, providerId: 'credential', accountId: userId }
  const set = { password: hash, updatedAt: now, setBy: app }
  return db
    .insert(accounts)
    .values({ ...ids, ...set, createdAt: now })
    .onConflictDoUpdate({ target: [accounts.userId, accounts.providerId], set })
}
