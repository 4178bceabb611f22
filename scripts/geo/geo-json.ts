import type { GeofeedState } from '../../lib/geo/geofeeds/geofeed-states.ts'
import type { triedLists } from '../../lib/geo/network-lists/list-states.ts'
import type { ListedDatabase } from '../parts/geo-files.ts'
import { jsonText } from '../parts/json-text.ts'

export interface GeoData {
  readonly databases: readonly ListedDatabase[]
  readonly lists: ReturnType<typeof triedLists>
  readonly feeds: readonly GeofeedState[]
}

/** What the tables of `npm run geo` show, as JSON. */
export function geoJson({ databases, lists, feeds }: GeoData): string {
  return jsonText({
    databases: databases.map((database) =>
      'problem' in database
        ? { name: database.name, problem: database.problem }
        : { ...database, builtAt: isoTime(database.builtAt) },
    ),
    lists: lists.map(({ name, networks, checkedAt, failure }) => ({
      name,
      networks,
      checkedAt: isoTime(checkedAt),
      problem: failure?.reason,
    })),
    geofeeds: feeds.map(({ source, entries, outside, bad, examples, checkedAt, failure }) => ({
      source,
      networks: entries,
      outside,
      bad,
      examples,
      checkedAt: isoTime(checkedAt),
      problem: failure?.reason,
    })),
  })
}

function isoTime(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString()
}
