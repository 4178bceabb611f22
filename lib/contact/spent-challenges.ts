import { spentChallenges } from '../db/contact-tables.ts'
import { lt } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { unit } from '../db/unit.ts'

/** Marks the challenge of this signature as used. False: it was used before, by any process. */
export function spendChallenge(db: Db, signature: string, expiresAt: number): Promise<boolean> {
  const row = { signature, expiresAt }
  return unit(db, [db.insert(spentChallenges).values(row).onConflictDoNothing()])
}

/** Forgets used challenges that ended before `time`. */
export function removeSpent(db: Db, time: number): void {
  db.delete(spentChallenges).where(lt(spentChallenges.expiresAt, time)).run()
}
