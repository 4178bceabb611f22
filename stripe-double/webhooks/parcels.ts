import type Stripe from 'stripe'
import { newId } from '../ids.ts'
import { isOfType } from '../resources/events.ts'
import type { State } from '../state.ts'

/** One event on its way to one endpoint. */
export interface Delivery {
  readonly id: string
  readonly event: string
  readonly type: string
  readonly url: string
  outcome: 'waiting' | 'delivered' | 'failed' | 'dropped'
  /** The status of each answer, or why there was none. */
  readonly attempts: (number | string)[]
}

/** A delivery with what is sent. */
export interface Parcel {
  readonly delivery: Delivery
  readonly endpoint: string
  readonly body: string
}

/** One for each endpoint that wants the event. */
export function parcelsFor(state: State, event: Stripe.Event): Parcel[] {
  return [...state.tables.webhookEndpoints.values()]
    .filter(({ enabled_events }) => enabled_events.some((type) => isOfType(event.type, type)))
    .map(({ id, url }) => ({
      delivery: {
        id: newId('whd'),
        event: event.id,
        type: event.type,
        url,
        outcome: 'waiting',
        attempts: [],
      },
      endpoint: id,
      body: JSON.stringify(event, null, 2),
    }))
}
