import { type WriterDb, withoutWaiting } from '../db/engine.ts'
import { type PendingCounts, prepareCounts, type Written } from '../db/ledger/pending-counts.ts'

/** About a second. After that, unwritten counts wait for the next flush, if there is one. */
const ATTEMPTS = 40

/** Opens the writer of counts, which does not go through the engine. */
export function openCountsWriter(db: WriterDb): (counts: PendingCounts) => Promise<Written> {
  const write = prepareCounts(db.$client)
  return (counts) =>
    db.engine.whenFree(() => withoutWaiting(db.$client, () => write(counts)), ATTEMPTS)
}
