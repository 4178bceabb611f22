import { and, eq, isNull, or } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { users } from '../db/tables.ts'
import { runInTransaction } from '../db/transaction.ts'
import { normaliseEmail } from '../parts/email-address.ts'
import { ApiError } from '../parts/errors.ts'
import { insertAudit } from './audit.ts'
import { DEMO_USER, findUserByEmail, insertUser, newUser, type UserRow } from './users.ts'

/** A user of the remote auth service. */
export type RemoteUser = Pick<UserRow, 'id' | 'name' | 'email' | 'emailVerified'>

interface AdoptOptions {
  /** The id of the plan of a new user. */
  readonly findPlan: () => Promise<string>
  readonly now: number
}

/**
 * Returns the id of our user for a user of the auth service, and copies the name and e-mail address.
 * One of our users may have the same address without being linked to the service, such as a user that a
 * command created. We link that user only if the service has verified the address, because anybody can
 * sign up with any address. Throws FORBIDDEN if it has not, or if our user is already linked to another
 * user of the service, or if the user would be that of the landing page.
 */
export async function adoptUser(
  db: Db,
  remote: RemoteUser,
  { findPlan, now }: AdoptOptions,
): Promise<string> {
  if ([remote.id, normaliseEmail(remote.email)].includes(DEMO_USER)) {
    throw new ApiError('FORBIDDEN', 'Another user has this id')
  }
  const known = await findByRemoteId(db, remote.id)
  if (known !== null) return update(db, known, remote, now)
  const sameEmail = await findUserByEmail(db, remote.email)
  if (sameEmail === null) {
    const plan = await findPlan()
    return addUser(db, remote, newUser({ email: remote.email, plan, now }))
  }
  // Another request has added or linked the user meanwhile.
  if (sameEmail.remoteId === remote.id) return update(db, sameEmail, remote, now)
  if (sameEmail.remoteId !== null) {
    throw new ApiError('FORBIDDEN', 'Another user has this e-mail address')
  }
  if (!remote.emailVerified) {
    throw new ApiError(
      'FORBIDDEN',
      'A user with this e-mail address exists: verify the address at the auth service first',
    )
  }
  return update(db, sameEmail, remote, now)
}

async function findByRemoteId(db: Db, remoteId: string): Promise<UserRow | null> {
  return (await db.select().from(users).where(eq(users.remoteId, remoteId)).get()) ?? null
}

async function update(db: Db, user: UserRow, remote: RemoteUser, now: number): Promise<string> {
  const email = normaliseEmail(remote.email)
  const isTaken = email !== user.email && (await findUserByEmail(db, email)) !== null
  const wanted = {
    remoteId: remote.id,
    name: remote.name,
    ...(!isTaken && { email, emailVerified: remote.emailVerified }),
  }
  const isSame = Object.entries({ ...user, ...wanted }).every(
    ([name, value]) => user[name as keyof UserRow] === value, // safe: the names are of `user`
  )
  if (!isSame) {
    // Another request may have linked the user while this one waited for the database.
    const isFree = or(isNull(users.remoteId), eq(users.remoteId, remote.id))
    const { changes } = await db
      .update(users)
      .set({ ...wanted, updatedAt: now })
      .where(and(eq(users.id, user.id), isFree))
      .run()
    if (changes === 0) throw new ApiError('FORBIDDEN', 'Another user has this e-mail address')
  }
  return user.id
}

async function addUser(db: Db, remote: RemoteUser, defaults: UserRow): Promise<string> {
  const { id, name, emailVerified } = remote
  const user = { ...defaults, id, name, emailVerified, remoteId: id }
  const { email: actorLabel, createdAt } = user
  const event = { app: 'api', actorId: id, actorLabel, createdAt } as const
  await runInTransaction(db, [
    insertUser(db, user),
    insertAudit(db, { ...event, action: 'create_user' }),
  ])
  // Read again: another request may have added the user, or one of our own users may have this id.
  const added = await findByRemoteId(db, remote.id)
  if (added === null) throw new ApiError('FORBIDDEN', 'Another user has this id')
  return added.id
}
