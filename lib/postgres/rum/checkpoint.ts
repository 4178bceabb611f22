import type { SiteFold } from '../../rum/rows/site-fold.ts'
import type { PgConnection, PgPool } from '../connection.ts'
import { inTransaction } from '../transaction.ts'
import { type Columns, insertAll, runBulk } from './bulk.ts'
import { addCounts, addErrors } from './counts.ts'
import type { FullDay } from './names.ts'
import { addRows } from './rows.ts'

/** What a node adds to the stored rows of one site in a checkpoint. */
export interface Part {
  readonly fold: SiteFold
  /** The checkpoints of a node have ascending numbers. */
  readonly checkpoint: number
}

/** The days that have as many pages, or kinds of errors, as they may have. */
export interface FullDays {
  readonly paths: readonly FullDay[]
  readonly errors: readonly FullDay[]
}

/** Instead of a checkpoint: other nodes have summed up the journal of the node. */
export const TAKEN_OVER = Number.MAX_SAFE_INTEGER

const COUNTED: Columns = {
  site_id: 'text',
  node: 'text',
  last_id: 'bigint',
  checkpoint: 'bigint',
}
const SAVE_COUNTED = insertAll(
  'rum_counted',
  COUNTED,
  `(site_id, node) DO UPDATE SET last_id = greatest(rum_counted.last_id, excluded.last_id),
    checkpoint = excluded.checkpoint`,
)

/**
 * Writes the parts in one transaction. One that was written before, by a transaction whose end the node did
 * not hear of, is left out. Writes nothing if other nodes believe that this one is dead.
 */
export function writeParts(
  pool: PgPool,
  node: string,
  parts: readonly Part[],
): Promise<FullDays | 'taken over'> {
  return inTransaction(pool, async (connection) => {
    const siteIds = parts.map(({ fold }) => fold.siteId)
    await lockSites(connection, siteIds)
    const counted = await readCounted(connection, node, siteIds)
    const isTakenOver = siteIds.some((siteId) => counted.get(siteId)?.checkpoint === TAKEN_OVER)
    if (isTakenOver) return 'taken over'
    const due = parts.filter(
      ({ fold, checkpoint }) => (counted.get(fold.siteId)?.checkpoint ?? 0) < checkpoint,
    )
    const full = await addTotals(
      connection,
      due.map(({ fold }) => fold),
    )
    await saveCounted(connection, node, due)
    return full
  })
}

/** Makes others that add to these sites wait. The order is always the same, so that no two wait for each other. */
export async function lockSites(
  connection: PgConnection,
  siteIds: readonly string[],
): Promise<void> {
  await connection.query(
    `SELECT pg_advisory_xact_lock(hashtext('meridian telemetry'), site)
     FROM (SELECT hashtext(id) AS site FROM unnest($1::text[]) AS id ORDER BY 1) AS sites`,
    [siteIds],
  )
}

/** What the stored rows of a site include. */
export interface Counted {
  /** The last journal entry of the node. */
  readonly lastId: number
  readonly checkpoint: number
}

export async function readCounted(
  connection: PgConnection,
  node: string,
  siteIds: readonly string[],
): Promise<Map<string, Counted>> {
  const { rows } = await connection.query(
    `SELECT site_id, last_id, checkpoint FROM rum_counted
     WHERE site_id = ANY ($1::text[]) AND node = $2`,
    [siteIds, node],
  )
  return new Map(
    rows.map(([siteId, lastId, checkpoint]) => [
      String(siteId),
      { lastId: Number(lastId), checkpoint: Number(checkpoint) },
    ]),
  )
}

/** Adds what the sites have in memory to what is stored. The locks of the sites must be held. */
export async function addTotals(
  connection: PgConnection,
  sites: readonly SiteFold[],
): Promise<FullDays> {
  const paths = await addRows(connection, sites)
  const errors = await addErrors(connection, sites)
  await addCounts(connection, sites)
  return { paths, errors }
}

export async function saveCounted(
  connection: PgConnection,
  node: string,
  parts: readonly Part[],
): Promise<void> {
  const tuples = parts.map(({ fold, checkpoint }) => [fold.siteId, node, fold.lastId, checkpoint])
  await runBulk(connection, SAVE_COUNTED, tuples)
}
