import type { PgConnection, PgPool } from '../../postgres/connection.ts'
import { isInNodes } from '../../postgres/nodes/nodes.ts'
import { inTransaction } from '../../postgres/transaction.ts'
import type { SiteFold } from '../rows/site-fold.ts'
import { addAll, runBulk } from './bulk.ts'
import { addCauses, addCounts, addErrors } from './counts.ts'
import type { FullDay } from './names.ts'
import { addRows } from './rows.ts'

/** A node, and the database in which it writes. */
export interface NodeDatabase {
  readonly pool: PgPool
  readonly node: string
}

/** What a node adds to the stored rows of one site in a checkpoint. */
export interface Part {
  readonly fold: SiteFold
  /** The checkpoints of a node have ascending numbers. */
  readonly checkpoint: number
}

/** The days that have reached their limit of pages, of kinds of errors, or of causes. */
export interface FullDays {
  readonly paths: readonly FullDay[]
  readonly errors: readonly FullDay[]
  readonly causes: readonly FullDay[]
}

/** In place of the number of a checkpoint: other nodes have summed up the journal of the node. */
export const TAKEN_OVER = Number.MAX_SAFE_INTEGER

const SAVE_COUNTED = addAll(
  'rum_counted',
  { site_id: 'text', node: 'text' },
  {
    values: { last_id: 'bigint', checkpoint: 'bigint' },
    changes: {
      last_id: 'greatest(stored.last_id, excluded.last_id)',
      checkpoint: 'excluded.checkpoint',
    },
  },
)

/**
 * Writes the parts in one transaction. Leaves out parts that an earlier transaction has written, whose answer
 * was lost. Writes nothing if other nodes have taken over the journal of this one. A day later, they remove the
 * node, and only then what is in `rum_counted` about it: so this is read first.
 */
export function writeParts(
  { pool, node }: NodeDatabase,
  parts: readonly Part[],
): Promise<FullDays | 'taken over'> {
  return inTransaction(pool, async (connection) => {
    const siteIds = parts.map(({ fold }) => fold.siteId)
    await lockSites(connection, siteIds)
    const counted = await readCounted(connection, node, siteIds)
    const isTakenOver = siteIds.some((siteId) => counted.get(siteId)?.checkpoint === TAKEN_OVER)
    if (isTakenOver || !(await isInNodes(connection, node))) return 'taken over'
    const due = parts.filter(
      ({ fold, checkpoint }) => (counted.get(fold.siteId)?.checkpoint ?? 0) < checkpoint,
    )
    await saveCounted(connection, node, due)
    const folds = due.map(({ fold }) => fold)
    return addTotals(connection, folds)
  })
}

/** Locks the sites against other writers. The order is always the same, so that two cannot deadlock. */
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

/** Adds what the sites have in memory to the stored rows. Call `lockSites` and `saveCounted` first. */
export async function addTotals(
  connection: PgConnection,
  sites: readonly SiteFold[],
): Promise<FullDays> {
  const paths = await addRows(connection, sites)
  const errors = await addErrors(connection, sites)
  const causes = await addCauses(connection, sites)
  await addCounts(connection, sites)
  return { paths, errors, causes }
}

export async function saveCounted(
  connection: PgConnection,
  node: string,
  parts: readonly Part[],
): Promise<void> {
  const tuples = parts.map(({ fold, checkpoint }) => [fold.siteId, node, fold.lastId, checkpoint])
  await runBulk(connection, SAVE_COUNTED, tuples)
}
