import { eq, isNull } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { deletionRequests } from '../db/tables.ts'

/** A command's request that the running server delete an account. */
export type DeletionRequest = typeof deletionRequests.$inferSelect

/** Replaces an earlier request. */
export async function requestDeletion(db: Db, userId: string, command: string): Promise<void> {
  const row = { userId, command, refusal: null }
  await db
    .insert(deletionRequests)
    .values(row)
    .onConflictDoUpdate({ target: deletionRequests.userId, set: row })
    .run()
}

/** Lists the requests that the server has not refused. */
export async function listDeletionRequests(db: Db): Promise<DeletionRequest[]> {
  return db.select().from(deletionRequests).where(isNull(deletionRequests.refusal)).all()
}

/** null: no request is left, because the account is deleted. */
export async function findDeletionRequest(db: Db, userId: string): Promise<DeletionRequest | null> {
  const isOwn = eq(deletionRequests.userId, userId)
  return (await db.select().from(deletionRequests).where(isOwn).get()) ?? null
}

export async function refuseDeletion(db: Db, userId: string, refusal: string): Promise<void> {
  await db
    .update(deletionRequests)
    .set({ refusal })
    .where(eq(deletionRequests.userId, userId))
    .run()
}

export async function withdrawDeletion(db: Db, userId: string): Promise<void> {
  await db.delete(deletionRequests).where(eq(deletionRequests.userId, userId)).run()
}
