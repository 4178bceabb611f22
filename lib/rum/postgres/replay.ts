import { mapInSlices } from '../../parts/time-slices.ts'
import type { PgPool } from '../../postgres/connection.ts'
import { inTransaction } from '../../postgres/transaction.ts'
import type { Entry } from '../ingest/journal.ts'
import { SiteFold } from '../rows/site-fold.ts'
import {
  addTotals,
  type Counted,
  lockSites,
  type NodeDatabase,
  readCounted,
  saveCounted,
  TAKEN_OVER,
} from './checkpoint.ts'
import { hasGroup, listJournalNodes, readGroups, removeGroups } from './entries.ts'
import { withoutStoredRows } from './pending-site.ts'

const GROUPS = 10

/**
 * Sums up the journal that a dead node left, and removes it. Several nodes may do so at once. If the node was
 * only paused, its next checkpoint of these sites notices.
 */
export async function replayJournal(pool: PgPool, node: string): Promise<void> {
  while (await replayGroups({ pool, node }));
}

/**
 * Sums up the journals of nodes that are not in `nodes`. A node can come back from a pause after the others have
 * removed it, and accept beacons before it joins again.
 */
export async function replayRemoved(pool: PgPool): Promise<void> {
  // Read first: a node joins before it writes to its journal.
  const withJournal = await listJournalNodes(pool)
  const sql = 'SELECT id FROM unnest($1::text[]) AS id WHERE id NOT IN (SELECT id FROM nodes)'
  const { rows } = await pool.use((connection) => connection.query(sql, [withJournal]))
  for (const [id] of rows) await replayJournal(pool, String(id))
}

/**
 * Sums up the first groups. Returns whether there were any. If it is interrupted, the stored rows say which
 * sites are summed up.
 */
async function replayGroups(database: NodeDatabase): Promise<boolean> {
  const { pool, node } = database
  const entries = (await pool.use((connection) => readGroups(connection, node, GROUPS))).flat()
  const last = entries.at(-1)
  if (last === undefined) return false
  await replayEntries(database, entries, last.id)
  await pool.use((connection) => removeGroups(connection, node, last.id))
  return true
}

/** `lastId`: of the last group that was read. */
function replayEntries(
  { pool, node }: NodeDatabase,
  entries: readonly Entry[],
  lastId: number,
): Promise<void> {
  return inTransaction(pool, async (connection) => {
    const siteIds = [...new Set(entries.map(({ siteId }) => siteId))]
    await lockSites(connection, siteIds)
    // Read under the locks, since another node may have summed up the same entries before.
    const counted = await readCounted(connection, node, siteIds)
    // Otherwise another node has summed up all entries, and `rum_counted` may no longer show it.
    if (!(await hasGroup(connection, node, lastId))) return
    const folds = await foldAll(entries, counted)
    const parts = folds.map((fold) => ({ fold, checkpoint: TAKEN_OVER }))
    await saveCounted(connection, node, parts)
    await addTotals(connection, folds)
  })
}

/** Folds the entries that the stored rows lack. */
async function foldAll(
  entries: readonly Entry[],
  counted: ReadonlyMap<string, Counted>,
): Promise<SiteFold[]> {
  const folds = new Map<string, SiteFold>()
  const missing = entries.filter(({ siteId, id }) => id > (counted.get(siteId)?.lastId ?? 0))
  await mapInSlices(missing, (entry) => {
    const fold = folds.get(entry.siteId) ?? new SiteFold(withoutStoredRows(), entry.siteId)
    folds.set(entry.siteId, fold)
    fold.add(entry)
  })
  return [...folds.values()]
}
