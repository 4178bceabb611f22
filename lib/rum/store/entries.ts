import type { Connection } from '../../db/connection.ts'
import type { Entry } from '../ingest/journal.ts'

interface EntryRow extends Omit<Entry, 'beacon'> {
  /** JSON. */
  readonly beacon: string
}

/** The statements for the journal of accepted beacons. */
export function entryStatements({ $client }: Connection) {
  // Every beacon runs this statement, and binding by position is cheaper than by name.
  const insert = $client.prepare<
    [siteId: string, id: number, receivedAt: number, country: string, beacon: string]
  >('INSERT INTO rum_journal (site_id, id, received_at, country, beacon) VALUES (?, ?, ?, ?, ?)')
  const last = $client
    .prepare<[], number>(
      `SELECT max((SELECT coalesce(max(id), 0) FROM rum_journal),
                  (SELECT coalesce(max(last_id), 0) FROM rum_counted))`,
    )
    .pluck()
  const read = $client.prepare<[{ siteId: string; id: number; limit: number }], EntryRow>(
    `SELECT site_id AS siteId, id, received_at AS receivedAt, country, beacon FROM rum_journal
     WHERE (site_id, id) > ($siteId, $id) ORDER BY site_id, id LIMIT $limit`,
  )
  const remove = $client.prepare<[{ siteId: string; upToId: number; limit: number }]>(
    `DELETE FROM rum_journal WHERE site_id = $siteId AND id IN (
       SELECT id FROM rum_journal WHERE site_id = $siteId AND id <= $upToId ORDER BY id LIMIT $limit)`,
  )
  const addAll = $client.transaction((entries: readonly Entry[]) => {
    for (const { siteId, id, receivedAt, country, beacon } of entries) {
      insert.run(siteId, id, receivedAt, country, JSON.stringify(beacon))
    }
  })
  return {
    /** Writes all entries or, if it throws, none. */
    addEntries: (entries: readonly Entry[]) => addAll.immediate(entries),
    /** The largest id in the journal or in any row: new entries get larger ones. */
    lastEntryId: () => last.get() ?? 0,
    /** Lists the entries after the given site and id, ordered by both. */
    readEntries: ({ siteId, id }: Pick<Entry, 'siteId' | 'id'>, limit: number): Entry[] =>
      read
        .all({ siteId, id, limit })
        .map(({ beacon, ...entry }) => ({ ...entry, beacon: JSON.parse(beacon) })),
    /** Removes the first entries of the site, up to an id. Returns how many it removed. */
    removeEntries: (siteId: string, upToId: number, limit: number): number =>
      remove.run({ siteId, upToId, limit }).changes,
  }
}
