import type { MovedTable } from './tables.ts'

const TABLE: MovedTable = {
  name: 'rum_journal',
  columns: {
    site_id: 'text',
    id: 'bigint',
    received_at: 'bigint',
    country: 'text',
    beacon: 'text',
  },
  key: ['site_id', 'id'],
  identity: undefined,
}

/**
 * Reads the journals of all nodes as rows for SQLite's journal: the beacons that the other tables lack,
 * numbered by time. A row in PostgreSQL has the beacons of one commit; `last_id` is the number of the last.
 */
const SOURCE = `
  SELECT site_id, row_number() OVER (ORDER BY received_at, node, number) AS id,
    received_at, country, beacon
  FROM (
    SELECT node, entry ->> 0 AS site_id, (entry ->> 1)::bigint AS received_at, entry ->> 2 AS country,
      (entry -> 3)::text AS beacon, last_id - json_array_length(entries::json) + at AS number
    FROM rum_journal CROSS JOIN LATERAL
      json_array_elements(entries::json) WITH ORDINALITY AS packed (entry, at)
  ) AS journal
  WHERE NOT EXISTS (
    SELECT FROM rum_counted AS counted
    WHERE counted.site_id = journal.site_id COLLATE "C" AND counted.node = journal.node
      AND counted.last_id >= number
  )
  ORDER BY site_id COLLATE "C", id`

/** What PostgreSQL's journals become in a database file. */
export const JOURNAL = { table: TABLE, source: SOURCE }
