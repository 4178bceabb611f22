import { type PgConnection, type PgPool, QUICK_MS } from '../../postgres/connection.ts'
import type { Entry } from '../ingest/journal.ts'

/**
 * Entries that were committed together, whose ids follow each other. They are one row of the journal: a row
 * for each of them would cost the server several times as much.
 */
type Group = readonly Entry[]

type Packed = readonly [
  siteId: Entry['siteId'],
  receivedAt: Entry['receivedAt'],
  country: Entry['country'],
  beacon: Entry['beacon'],
]

/**
 * Writes all entries. If it rejects, it usually has written none, but the acknowledgement may have got lost.
 */
export async function addGroup(pool: PgPool, node: string, group: Group): Promise<void> {
  const packed = group.map(({ siteId, receivedAt, country, beacon }): Packed => {
    return [siteId, receivedAt, country, beacon]
  })
  const sql = 'INSERT INTO rum_journal (node, last_id, entries) VALUES ($1, $2, $3)'
  const params = [node, group.at(-1)?.id, JSON.stringify(packed)]
  await pool.use((connection) => connection.query(sql, params), QUICK_MS)
}

/** Lists the first groups of a node in the order of their ids. */
export async function readGroups(
  connection: PgConnection,
  node: string,
  limit: number,
): Promise<Group[]> {
  const { rows } = await connection.query(
    'SELECT last_id, entries FROM rum_journal WHERE node = $1 ORDER BY last_id LIMIT $2',
    [node, limit],
  )
  return rows.map(([lastId, entries]) => {
    // safe: `addGroup` wrote them
    const packed = JSON.parse(String(entries)) as Packed[]
    const firstId = Number(lastId) - packed.length + 1
    return packed.map(([siteId, receivedAt, country, beacon], at) => {
      return { siteId, id: firstId + at, receivedAt, country, beacon }
    })
  })
}

/** Whether the journal still has the group that ends with the entry. */
export async function hasGroup(
  connection: PgConnection,
  node: string,
  lastId: number,
): Promise<boolean> {
  const sql = 'SELECT FROM rum_journal WHERE node = $1 AND last_id = $2'
  return (await connection.query(sql, [node, lastId])).rows.length > 0
}

/** Removes the groups whose entries have ids up to the given one. */
export async function removeGroups(
  connection: PgConnection,
  node: string,
  upToId: number,
): Promise<void> {
  const sql = 'DELETE FROM rum_journal WHERE node = $1 AND last_id <= $2'
  await connection.query(sql, [node, upToId])
}

/** Lists the nodes that have journal entries. */
export async function listJournalNodes(pool: PgPool): Promise<string[]> {
  const sql = 'SELECT DISTINCT node FROM rum_journal'
  const { rows } = await pool.use((connection) => connection.query(sql))
  return rows.map(([node]) => String(node))
}
