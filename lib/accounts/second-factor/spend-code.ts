import type { Notify } from '../../contact/account-mails.ts'
import { and, eq, isNotNull, lt, type SQL } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import { recoveryCodes, secondFactors } from '../../db/tables.ts'
import { runInTransaction, type Statement } from '../../db/transaction.ts'
import { type Actor, callerEvent, insertAudit } from '../audit.ts'
import { unseal } from '../sealed.ts'
import { hashRecoveryCode } from './recovery-codes.ts'
import { findStep, isTotp } from './totp.ts'

/** The database, the key that encrypts the secrets of apps and hashes recovery codes, and notices. */
export interface FactorStore {
  readonly db: Db
  readonly key: string
  readonly notify: Notify
}

/** A code that a user enters: one from the app, or a recovery code. */
export interface Entered {
  readonly actor: Actor
  readonly code: string
  /** Epoch milliseconds. */
  readonly now: number
}

/**
 * Uses up the code and runs `changes`, all or nothing. Returns false if the code is wrong or used, or if
 * `condition` does not hold. If several requests bring the same code at once, only one succeeds.
 */
export async function spendCode(
  store: FactorStore,
  entered: Entered,
  changes: readonly Statement[] = [],
  condition?: SQL,
): Promise<boolean> {
  const spent = isTotp(entered.code)
    ? await spendTotp(store, entered, condition)
    : spendRecoveryCode(store, entered, condition)
  return spent !== null && runInTransaction(store.db, [...spent, ...changes])
}

type Statements = [first: Statement, ...Statement[]]

/** null: the code is wrong. */
async function spendTotp(
  { db, key }: FactorStore,
  { actor, code, now }: Entered,
  condition: SQL | undefined,
): Promise<Statements | null> {
  const { userId, confirmedAt, secret, lastStep } = secondFactors
  const isOn = and(eq(userId, actor.userId), isNotNull(confirmedAt))
  const found = await db.select({ secret }).from(secondFactors).where(isOn).get()
  if (found === undefined) return null
  const step = findStep(await unseal(key, found.secret), code, now)
  if (step === null) return null
  const isUnused = and(isOn, eq(secret, found.secret), lt(lastStep, step), condition)
  return [db.update(secondFactors).set({ lastStep: step }).where(isUnused)]
}

function spendRecoveryCode(
  { db, key, notify }: FactorStore,
  { actor, code, now }: Entered,
  condition: SQL | undefined,
): Statements {
  const { userId, hash } = recoveryCodes
  const isCode = and(eq(userId, actor.userId), eq(hash, hashRecoveryCode(key, actor.userId, code)))
  return [
    db.delete(recoveryCodes).where(and(isCode, condition)),
    insertAudit(db, callerEvent(actor, { action: 'use_recovery_code' }, now)),
    ...notify(actor.userId, 'recovery_code_used', now),
  ]
}
