import { and, eq, isNotNull, isNull, ne } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import { recoveryCodes, secondFactors, sessions } from '../../db/tables.ts'
import { runInTransaction } from '../../db/transaction.ts'
import { callerEvent, insertAudit } from '../audit.ts'
import { seal, unseal } from '../sealed.ts'
import { hashRecoveryCode, newRecoveryCodes } from './recovery-codes.ts'
import { type Entered, type FactorStore, spendCode } from './spend-code.ts'
import { findStep, newSecret } from './totp.ts'

/** Returns since when it is on, and how many recovery codes are left; null if it is off. */
export async function findSecondFactor({ db }: Pick<FactorStore, 'db'>, userId: string) {
  const { confirmedAt } = secondFactors
  const found = await db.select({ confirmedAt }).from(secondFactors).where(isOn(userId)).get()
  if (found === undefined || found.confirmedAt === null) return null
  return {
    confirmedAt: found.confirmedAt,
    recoveryCodes: await db.$count(recoveryCodes, eq(recoveryCodes.userId, userId)),
  }
}

/** Stores a new secret, which takes effect once its first code is confirmed. null: it is already on. */
export async function offerSecondFactor(
  { db, key }: FactorStore,
  userId: string,
): Promise<Buffer | null> {
  const secret = newSecret()
  const sealed = await seal(key, secret)
  const { changes } = await db
    .insert(secondFactors)
    .values({ userId, secret: sealed })
    .onConflictDoUpdate({
      target: secondFactors.userId,
      set: { secret: sealed },
      setWhere: isNull(secondFactors.confirmedAt),
    })
    .run()
  return changes > 0 ? secret : null
}

/** Why the second factor cannot be turned on. */
type NotConfirmed = 'on-already' | 'nothing-offered' | 'wrong-code'

/**
 * Turns the second factor on, and ends the sessions that began without it, except `sessionId`. Returns
 * the recovery codes.
 */
export async function confirmSecondFactor(
  store: FactorStore,
  { actor, code, now }: Entered,
  sessionId: string | undefined,
): Promise<string[] | NotConfirmed> {
  const { db, key } = store
  const { userId } = actor
  const isUsers = eq(secondFactors.userId, userId)
  const offered = await db.select().from(secondFactors).where(isUsers).get()
  if (offered === undefined) return 'nothing-offered'
  if (offered.confirmedAt !== null) return 'on-already'
  const step = findStep(await unseal(key, offered.secret), code, now)
  if (step === null) return 'wrong-code'
  const { codes, insert } = makeCodes(store, userId)
  const others = sessionId === undefined ? undefined : ne(sessions.id, sessionId)
  const isConfirmed = await runInTransaction(db, [
    db
      .update(secondFactors)
      .set({ confirmedAt: now, lastStep: step })
      .where(
        and(isUsers, isNull(secondFactors.confirmedAt), eq(secondFactors.secret, offered.secret)),
      ),
    insert,
    db.delete(sessions).where(and(eq(sessions.userId, userId), others)),
    insertAudit(db, callerEvent(actor, { action: 'enable_two_factor' }, now)),
    ...store.notify(userId, 'second_factor_on', now),
  ])
  // Another request was faster.
  return isConfirmed ? codes : 'on-already'
}

/** Replaces all recovery codes. null: the code is wrong. */
export async function renewRecoveryCodes(
  store: FactorStore,
  entered: Entered,
): Promise<string[] | null> {
  const { db } = store
  const { actor, now } = entered
  const { codes, insert } = makeCodes(store, actor.userId)
  const isRight = await spendCode(store, entered, [
    db.delete(recoveryCodes).where(eq(recoveryCodes.userId, actor.userId)),
    insert,
    insertAudit(db, callerEvent(actor, { action: 'renew_recovery_codes' }, now)),
    ...store.notify(actor.userId, 'recovery_codes_renewed', now),
  ])
  return isRight ? codes : null
}

/** Turns the second factor off. Returns false if the code is wrong. */
export function turnOffSecondFactor(store: FactorStore, entered: Entered): Promise<boolean> {
  const { actor, now } = entered
  return spendCode(store, entered, [
    removeSecondFactor(store.db, actor.userId),
    insertAudit(store.db, callerEvent(actor, { action: 'disable_two_factor' }, now)),
    ...store.notify(actor.userId, 'second_factor_off', now),
  ])
}

/** Removes the second factor and its recovery codes. Changes no row if it is off. */
export function removeSecondFactor(db: Db, userId: string) {
  return db.delete(secondFactors).where(isOn(userId))
}

function isOn(userId: string) {
  return and(eq(secondFactors.userId, userId), isNotNull(secondFactors.confirmedAt))
}

function makeCodes({ db, key }: FactorStore, userId: string) {
  const codes = newRecoveryCodes()
  const rows = codes.map((code) => ({ userId, hash: hashRecoveryCode(key, userId, code) }))
  return { codes, insert: db.insert(recoveryCodes).values(rows) }
}
