import { createHash, randomBytes } from 'node:crypto'
import { and, eq, exists, gt } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import { users, verifications } from '../../db/tables.ts'
import { MINUTE_MS } from '../../parts/durations.ts'
import type { Actor } from '../audit.ts'
import { findSecondFactor } from './second-factor.ts'
import { type Entered, type FactorStore, spendCode } from './spend-code.ts'

/** How long a sign-in waits for the code after the password. */
const CHALLENGE_MS = 10 * MINUTE_MS

/**
 * Makes a text that proves, in the second step of a sign-in, that the user has given the password. null:
 * the password is enough. A change of the password invalidates the text.
 */
export async function challengeUser(
  { db }: FactorStore,
  userId: string,
  now: number,
): Promise<string | null> {
  if ((await findSecondFactor({ db }, userId)) === null) return null
  const challenge = randomBytes(24).toString('base64url')
  const times = { createdAt: now, updatedAt: now, expiresAt: now + CHALLENGE_MS }
  const row = { id: crypto.randomUUID(), identifier: toIdentifier(challenge), value: userId }
  await db
    .insert(verifications)
    .values({ ...row, ...times })
    .run()
  return challenge
}

/** The user who has given the password; null if the challenge is unknown, used or too old. */
export async function findChallenged(db: Db, challenge: string, now: number) {
  const isOpen = and(isChallenge(challenge), gt(verifications.expiresAt, now))
  const user = await db
    .select({ id: users.id, email: users.email })
    .from(users)
    .innerJoin(verifications, eq(verifications.value, users.id))
    .where(isOpen)
    .get()
  return user ?? null
}

type EnteredByApp = Omit<Entered, 'actor'> & Pick<Actor, 'app'>

/** Uses up the challenge and the code. Returns the id of the user, who may then begin a session. */
export async function passChallenge(
  store: FactorStore,
  challenge: string,
  { app, ...entered }: EnteredByApp,
): Promise<string | null> {
  const { db } = store
  const user = await findChallenged(db, challenge, entered.now)
  if (user === null) return null
  const actor = { app, userId: user.id, label: user.email }
  const isOpen = exists(db.select().from(verifications).where(isChallenge(challenge)))
  const close = db.delete(verifications).where(isChallenge(challenge))
  const isPassed = await spendCode(store, { actor, ...entered }, [close], isOpen)
  return isPassed ? user.id : null
}

function isChallenge(challenge: string) {
  return eq(verifications.identifier, toIdentifier(challenge))
}

/** Stored instead of the challenge. */
function toIdentifier(challenge: string): string {
  return createHash('sha256').update(`second-factor:${challenge}`).digest('base64url')
}
