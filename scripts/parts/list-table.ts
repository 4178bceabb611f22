import type { triedLists } from '../../lib/geo/lists/list-states.ts'
import { textTable } from './text-table.ts'
import { isoDay } from './times.ts'

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
