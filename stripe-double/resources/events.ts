import * as v from 'valibot'
import { isWithin, listPage } from '../http/list.ts'
import { Created, Page, Text } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { getRow } from '../world.ts'

const ListParams = v.strictObject({
  ...Page,
  created: v.optional(Created),
  type: v.optional(Text),
  types: v.optional(v.array(Text)),
})

export const eventRoutes: readonly Route[] = [
  route('GET /v1/events', ListParams, ({ world, params }) => {
    const { type, types } = params
    const events = [...world.state.tables.events.values()].filter(
      (event) =>
        isWithin(event.created, params.created) &&
        (type === undefined || isOfType(event.type, type)) &&
        (types === undefined || types.includes(event.type)),
    )
    return listPage('/v1/events', events, params)
  }),
  route('GET /v1/events/:id', Nothing, ({ world, id }) =>
    getRow(world.state.tables.events, id, 'event'),
  ),
]

/** `pattern` is a type, or a group of types such as `customer.subscription.*`. */
export function isOfType(type: string, pattern: string): boolean {
  return pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern
}
