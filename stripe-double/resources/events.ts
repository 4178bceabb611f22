import * as v from 'valibot'
import { listPage } from '../http/list.ts'
import { Integer, optional, Page, Text } from '../http/params.ts'
import { type Route, route } from '../http/route.ts'
import { rowsOf } from '../world.ts'

const ListParams = optional({
  ...Page.entries,
  types: v.pipe(v.array(Text), v.maxLength(20, 'at most 20 types')),
  created: optional({ gte: Integer }),
})

const LISTED_SECONDS = 30 * 86_400

/** Stripe lists events of the last 30 days, whether they were delivered or not. */
export const eventRoutes: readonly Route[] = [
  route('GET /v1/events', ListParams, ({ world, params }) => {
    const { types, created } = params
    const since = Math.max(created?.gte ?? 0, world.now() - LISTED_SECONDS)
    const events = rowsOf(world, 'events').filter(
      (event) => event.created >= since && (types?.includes(event.type) ?? true),
    )
    return listPage('/v1/events', events, params)
  }),
]
