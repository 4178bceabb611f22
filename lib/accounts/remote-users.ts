import { eq } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { users } from '../db/tables.ts'
import { unit } from '../db/unit.ts'
import { ApiError } from '../errors.ts'
import { insertAudit } from './audit.ts'
import { findUserByEmail, insertUser, newUser, normaliseEmail, type UserRow } from './users.ts'

/** A user as a remote auth service knows them. */
export interface RemoteUser {
  readonly id: string
  readonly name: string | null
  readonly email: string
  readonly emailVerified: boolean
}

/**
 * Returns the id of our user for one of the auth service, whose name and address are taken over. A
 * user whom we know by the address alone, such as one made on the command line, is theirs if the
 * service has verified that address; else they are refused, since anybody may sign up with any. One
 * who belongs to another user of the service is never given away: keys of theirs go on working.
 */
export async function adoptUser(
  db: Db,
  remote: RemoteUser,
  { plan, now }: { readonly plan: string; readonly now: number },
): Promise<string> {
  const known = findByRemoteId(db, remote.id)
  if (known !== null) return takeOver(db, known, remote, now)
  const namesake = await findUserByEmail(db, remote.email)
  if (namesake === null) return addUser(db, remote, { plan, now })
  if (namesake.remoteId !== null) {
    throw new ApiError('FORBIDDEN', 'Another user has this e-mail address')
  }
  if (!remote.emailVerified) {
    throw new ApiError('FORBIDDEN', 'Another user has this e-mail address: verify it first')
  }
  return takeOver(db, namesake, remote, now)
}

function findByRemoteId(db: Db, remoteId: string): UserRow | null {
  return db.select().from(users).where(eq(users.remoteId, remoteId)).get() ?? null
}

async function takeOver(db: Db, user: UserRow, remote: RemoteUser, now: number): Promise<string> {
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
    db.update(users)
      .set({ ...wanted, updatedAt: now })
      .where(eq(users.id, user.id))
      .run()
  }
  return user.id
}

async function addUser(
  db: Db,
  remote: RemoteUser,
  { plan, now }: { readonly plan: string; readonly now: number },
): Promise<string> {
  const { id, name, email, emailVerified } = remote
  const user = { ...newUser({ email, plan, now }), id, name, emailVerified, remoteId: id }
  const event = { app: 'api', actorId: id, actorLabel: user.email, createdAt: now } as const
  await unit(db, [insertUser(db, user), insertAudit(db, { ...event, action: 'create_user' })])
  // Read again: another request may have been faster, or the id be that of a user of our own.
  const added = findByRemoteId(db, remote.id)
  if (added === null) throw new ApiError('FORBIDDEN', 'Another user has this id')
  return added.id
}
