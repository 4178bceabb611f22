import type { Entry } from '../../rum/ingest/journal.ts'
import { SiteFold } from '../../rum/rows/site-fold.ts'
import type { PgPool } from '../connection.ts'
import { inTransaction } from '../transaction.ts'
import {
  addTotals,
  type Counted,
  lockSites,
  readCounted,
  saveCounted,
  TAKEN_OVER,
} from './checkpoint.ts'
import { readEntries, removeEntries } from './entries.ts'
import { fromNothing } from './site.ts'

const PAGE = 1_000

/**
 * Sums up the journal that a dead node left, and removes it. Several nodes may do so at once. If the node is
 * alive nevertheless, its next checkpoint of these sites finds out. Returns the number of entries.
 */
export async function replayJournal(pool: PgPool, node: string): Promise<number> {
  let total = 0
  for (;;) {
    const count = await replayPage(pool, node)
    if (count === 0) return total
    total += count
  }
}

function replayPage(pool: PgPool, node: string): Promise<number> {
  return inTransaction(pool, async (connection) => {
    const entries = await readEntries(connection, node, PAGE)
    if (entries.length === 0) return 0
    const lastIds = new Map(entries.map(({ siteId, id }) => [siteId, id]))
    const siteIds = [...lastIds.keys()]
    await lockSites(connection, siteIds)
    // Read after the lock: meanwhile, another node may have summed up the same entries.
    const folds = foldAll(entries, await readCounted(connection, node, siteIds))
    await addTotals(connection, folds)
    const parts = folds.map((fold) => ({ fold, checkpoint: TAKEN_OVER }))
    await saveCounted(connection, node, parts)
    await removeEntries(connection, node, lastIds)
    return entries.length
  })
}

/** Folds the entries that the stored rows lack. */
function foldAll(entries: readonly Entry[], counted: ReadonlyMap<string, Counted>): SiteFold[] {
  const folds = new Map<string, SiteFold>()
  for (const entry of entries) {
    const { siteId, id } = entry
    if (id <= (counted.get(siteId)?.lastId ?? 0)) continue
    const fold = folds.get(siteId) ?? new SiteFold(fromNothing(), siteId)
    folds.set(siteId, fold)
    fold.add(entry)
  }
  return [...folds.values()]
}
