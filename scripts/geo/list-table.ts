import type { GeofeedState } from '../../lib/geo/geofeeds/geofeed-states.ts'
import type { triedLists } from '../../lib/geo/network-lists/list-states.ts'
import { textTable } from '../parts/text-table.ts'
import { isoDay } from '../parts/times.ts'

/** The free lists, when each was last up to date, and why its last download failed. */
export function tableOfLists(lists: ReturnType<typeof triedLists>): string {
  return textTable(
    lists,
    {
      List: ({ name }) => name,
      Networks: ({ networks }) => networks?.toLocaleString('en-US') ?? '',
      Checked: ({ checkedAt }) => (checkedAt === undefined ? 'never' : isoDay(checkedAt)),
      Problem: ({ failure }) => (failure === undefined ? '' : failure.reason),
    },
    ['Networks'],
  )
}

/** The geofeeds, what became of their entries, and why the last update of each failed. */
export function tableOfGeofeeds(feeds: readonly GeofeedState[]): string {
  return textTable(
    feeds,
    {
      Geofeed: ({ source }) => source,
      Networks: ({ entries }) => entries?.toLocaleString('en-US') ?? '',
      Outside: ({ outside }) => outside?.toLocaleString('en-US') ?? '',
      Bad: ({ bad }) => bad?.toLocaleString('en-US') ?? '',
      Checked: ({ checkedAt }) => (checkedAt === undefined ? 'never' : isoDay(checkedAt)),
      Problem: ({ failure, examples }) => failure?.reason ?? examples?.[0] ?? '',
    },
    ['Networks', 'Outside', 'Bad'],
  )
}
