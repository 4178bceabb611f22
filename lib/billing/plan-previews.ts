import { planPreviews } from '../db/billing-tables.ts'
import { eq } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import type { Statement } from '../db/unit.ts'

/** The last preview that a user asked for. */
export type PreviewRow = typeof planPreviews.$inferSelect

export async function findPreview(db: Db, userId: string): Promise<PreviewRow | null> {
  return db.select().from(planPreviews).where(eq(planPreviews.userId, userId)).get() ?? null
}

export function savePreview(db: Db, row: PreviewRow): Statement {
  return db
    .insert(planPreviews)
    .values(row)
    .onConflictDoUpdate({ target: planPreviews.userId, set: row })
}

export function deletePreview(db: Db, userId: string): Statement {
  return db.delete(planPreviews).where(eq(planPreviews.userId, userId))
}
