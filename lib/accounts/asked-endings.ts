import { eq, isNull } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { accountEndings } from '../db/tables.ts'

/** A command's wish that the running server deletes an account. */
export type AskedEnding = typeof accountEndings.$inferSelect

/** Replaces an earlier wish. */
export async function askEnding(db: Db, userId: string, command: string): Promise<void> {
  const row = { userId, command, refusal: null }
  await db
    .insert(accountEndings)
    .values(row)
    .onConflictDoUpdate({ target: accountEndings.userId, set: row })
    .run()
}

export async function listAskedEndings(db: Db): Promise<AskedEnding[]> {
  return db.select().from(accountEndings).where(isNull(accountEndings.refusal)).all()
}

/** null: the account is gone. */
export async function findAskedEnding(db: Db, userId: string): Promise<AskedEnding | null> {
  const isOwn = eq(accountEndings.userId, userId)
  return (await db.select().from(accountEndings).where(isOwn).get()) ?? null
}

export async function refuseEnding(db: Db, userId: string, refusal: string): Promise<void> {
  await db.update(accountEndings).set({ refusal }).where(eq(accountEndings.userId, userId)).run()
}

export async function withdrawEnding(db: Db, userId: string): Promise<void> {
  await db.delete(accountEndings).where(eq(accountEndings.userId, userId)).run()
}
