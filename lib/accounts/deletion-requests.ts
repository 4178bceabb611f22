import { eq, isNull } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { accountEndings } from '../db/tables.ts'

/** A command's request that the running server delete an account. */
export type DeletionRequest = typeof accountEndings.$inferSelect

/** Replaces an earlier request. */
export async function requestDeletion(db: Db, userId: string, command: string): Promise<void> {
  const row = { userId, command, refusal: null }
  await db
    .insert(accountEndings)
    .values(row)
    .onConflictDoUpdate({ target: accountEndings.userId, set: row })
    .run()
}

/** Lists the requests that the server has not refused. */
export async function listDeletionRequests(db: Db): Promise<DeletionRequest[]> {
  return db.select().from(accountEndings).where(isNull(accountEndings.refusal)).all()
}

/** null: no request is left, because the account is deleted. */
export async function findDeletionRequest(db: Db, userId: string): Promise<DeletionRequest | null> {
  const isOwn = eq(accountEndings.userId, userId)
  return (await db.select().from(accountEndings).where(isOwn).get()) ?? null
}

export async function refuseDeletion(db: Db, userId: string, refusal: string): Promise<void> {
  await db.update(accountEndings).set({ refusal }).where(eq(accountEndings.userId, userId)).run()
}

export async function withdrawDeletion(db: Db, userId: string): Promise<void> {
  await db.delete(accountEndings).where(eq(accountEndings.userId, userId)).run()
}
