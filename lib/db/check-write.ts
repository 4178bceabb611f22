import type { Db } from './open.ts'
import { health } from './tables.ts'

/** Writes one real row. Throws if the database cannot be written. */
export async function checkWrite(db: Db, now: number): Promise<void> {
  await db
    .insert(health)
    .values({ id: 1, checkedAt: now })
    .onConflictDoUpdate({ target: health.id, set: { checkedAt: now } })
    .run()
}
