import type { Entry } from '../../rum/ingest/journal.ts'
import type { PgConnection, PgPool } from '../connection.ts'

const ADD = `INSERT INTO rum_journal (node, site_id, id, received_at, country, beacon)
  SELECT $1::text, * FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[])`

/** Writes all entries or, if it rejects, usually none: an acknowledgement may get lost. */
export async function addEntries(
  pool: PgPool,
  node: string,
  entries: readonly Entry[],
): Promise<void> {
  const params = [
    node,
    entries.map(({ siteId }) => siteId),
    entries.map(({ id }) => id),
    entries.map(({ receivedAt }) => receivedAt),
    entries.map(({ country }) => country),
    entries.map(({ beacon }) => JSON.stringify(beacon)),
  ]
  await pool.use((connection) => connection.query(ADD, params))
}

/** Lists the first entries of a node, by site and id. */
export async function readEntries(
  connection: PgConnection,
  node: string,
  limit: number,
): Promise<Entry[]> {
  const { rows } = await connection.query(
    `SELECT site_id, id, received_at, country, beacon FROM rum_journal
     WHERE node = $1 ORDER BY site_id, id LIMIT $2`,
    [node, limit],
  )
  return rows.map((row) => {
    // safe: these are the types of the columns
    const [siteId, id, receivedAt, country, beacon] = row as [
      string,
      number,
      number,
      string,
      string,
    ]
    return { siteId, id, receivedAt, country, beacon: JSON.parse(beacon) }
  })
}

/** Removes the entries of each site up to its last id. */
export async function removeEntries(
  connection: PgConnection,
  node: string,
  lastIds: ReadonlyMap<string, number>,
): Promise<void> {
  await connection.query(
    `DELETE FROM rum_journal USING unnest($2::text[], $3::bigint[]) AS old (site_id, last_id)
     WHERE node = $1 AND rum_journal.site_id = old.site_id AND id <= old.last_id`,
    [node, [...lastIds.keys()], [...lastIds.values()]],
  )
}

/** Lists the nodes that have journal entries. Each step skips all entries of one node by the key. */
export async function listJournalNodes(pool: PgPool): Promise<string[]> {
  const { rows } = await pool.use((connection) =>
    connection.query(`
      WITH RECURSIVE nodes AS (
        SELECT min(node) AS node FROM rum_journal
        UNION ALL
        SELECT (SELECT min(node) FROM rum_journal WHERE rum_journal.node > nodes.node)
        FROM nodes WHERE nodes.node IS NOT NULL
      )
      SELECT node FROM nodes WHERE node IS NOT NULL`),
  )
  return rows.map(([node]) => String(node))
}
