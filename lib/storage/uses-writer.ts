import { type WriterDb, withoutWaiting } from '../db/engine.ts'
import { prepareUses, type Uses, type Written } from '../db/uses.ts'

/** About a second. After that, unwritten uses wait for the next flush, if there is one. */
const ATTEMPTS = 40

/** Opens the writer of counts, which does not go through the engine. */
export function openUsesWriter(db: WriterDb): (uses: Uses) => Promise<Written> {
  const write = prepareUses(db.$client)
  return (uses) => db.engine.whenFree(() => withoutWaiting(db.$client, () => write(uses)), ATTEMPTS)
}
