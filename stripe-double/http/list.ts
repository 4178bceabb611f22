import type * as v from 'valibot'
import { rowsOf, type Tables } from '../world.ts'
import { optional, Page } from './params.ts'
import { type Route, route } from './route.ts'
import { badRequest } from './stripe-error.ts'

const DEFAULT_LIMIT = 10

/** A route that lists the rows of a table whose fields equal the `filters` in the request. */
export function listRoute(
  path: `/v1/${string}`,
  name: keyof Tables,
  filters: v.ObjectEntries,
): Route {
  const schema = optional({ ...Page.entries, ...filters })
  return route(`GET ${path}`, schema, ({ world, params }) => {
    const rows = rowsOf(world, name).filter((row) =>
      Object.keys(filters).every((field) => {
        const value = Reflect.get(params, field)
        return value === undefined || value === Reflect.get(row, field)
      }),
    )
    return listPage(path, rows, params)
  })
}

/** Returns one page, newest first. `items` are in order of creation. */
export function listPage<Item extends { readonly id: string }>(
  url: string,
  items: Iterable<Item>,
  { limit = DEFAULT_LIMIT, starting_after: last }: v.InferOutput<typeof Page>,
) {
  const newest = [...items].reverse()
  const start = last === undefined ? 0 : newest.findIndex(({ id }) => id === last) + 1
  if (last !== undefined && start === 0) {
    const param = 'starting_after'
    throw badRequest(`No such object: '${last}'`, { code: 'resource_missing', param })
  }
  return toList(url, newest.slice(start, start + limit), newest.length > start + limit)
}

export function toList<Item>(url: string, data: Item[], hasMore = false) {
  return { object: 'list' as const, data, has_more: hasMore, url }
}
