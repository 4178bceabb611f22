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
import { readGroups, removeGroups } from './entries.ts'
import { fromNothing } from './site.ts'
import { mapInTurns } from './turns.ts'

const GROUPS = 10

/**
 * Sums up the journal that a dead node left, and removes it. Several nodes may do so at once. If the node is
 * alive nevertheless, its next checkpoint of these sites finds out.
 */
export async function replayJournal(pool: PgPool, node: string): Promise<void> {
  while (await replayGroups(pool, node));
}

/** Returns whether there were any. */
function replayGroups(pool: PgPool, node: string): Promise<boolean> {
  return inTransaction(pool, async (connection) => {
    const entries = (await readGroups(connection, node, GROUPS)).flat()
    const last = entries.at(-1)
    if (last === undefined) return false
    const siteIds = [...new Set(entries.map(({ siteId }) => siteId))]
    await lockSites(connection, siteIds)
    // Read after the lock: meanwhile, another node may have summed up the same entries.
    const folds = await foldAll(entries, await readCounted(connection, node, siteIds))
    await addTotals(connection, folds)
    const parts = folds.map((fold) => ({ fold, checkpoint: TAKEN_OVER }))
    await saveCounted(connection, node, parts)
    await removeGroups(connection, node, last.id)
    return true
  })
}

/** Folds the entries that the stored rows lack. */
async function foldAll(
  entries: readonly Entry[],
  counted: ReadonlyMap<string, Counted>,
): Promise<SiteFold[]> {
  const folds = new Map<string, SiteFold>()
  const missing = entries.filter(({ siteId, id }) => id > (counted.get(siteId)?.lastId ?? 0))
  await mapInTurns(missing, (entry) => {
    const fold = folds.get(entry.siteId) ?? new SiteFold(fromNothing(), entry.siteId)
    folds.set(entry.siteId, fold)
    fold.add(entry)
  })
  return [...folds.values()]
}
