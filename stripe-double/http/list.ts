import type { World } from '../world.ts'
import { badRequest } from './stripe-error.ts'

interface Listed {
  readonly id: string
}

interface PageParams {
  readonly limit?: number | undefined
  readonly starting_after?: string | undefined
  readonly ending_before?: string | undefined
}

interface Range {
  readonly gt?: number | undefined
  readonly gte?: number | undefined
  readonly lt?: number | undefined
  readonly lte?: number | undefined
}

const DEFAULT_LIMIT = 10

/** One page, newest first: `items` are in the order in which they were made. */
export function listPage<Item extends Listed>(
  url: string,
  items: Iterable<Item>,
  { limit = DEFAULT_LIMIT, starting_after, ending_before }: PageParams,
) {
  const newest = [...items].reverse()
  if (ending_before !== undefined) {
    const before = newest.slice(0, placeOf(newest, ending_before, 'ending_before'))
    return toList(url, before.slice(-limit), before.length > limit)
  }
  const start =
    starting_after === undefined ? 0 : placeOf(newest, starting_after, 'starting_after') + 1
  return toList(url, newest.slice(start, start + limit), newest.length > start + limit)
}

export function toList<Item>(url: string, data: Item[], hasMore = false) {
  return { object: 'list' as const, data, has_more: hasMore, url }
}

/** Whether `created`, in seconds, is within what a `created` parameter asks for. */
export function isWithin(created: number, range: number | Range | undefined): boolean {
  if (range === undefined) return true
  if (typeof range === 'number') return created === range
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = range
  return created > gt && created >= gte && created < lt && created <= lte
}

/** The one with this id in any table, whatever it is. */
export function findAnywhere(world: World, id: string): object | null {
  for (const table of Object.values(world.state.tables)) {
    const found = table.get(id)
    if (found !== undefined) return found
  }
  return null
}

function placeOf(items: readonly Listed[], id: string, param: string): number {
  const place = items.findIndex((item) => item.id === id)
  if (place === -1) {
    throw badRequest(`No such object: '${id}'`, { code: 'resource_missing', param })
  }
  return place
}
