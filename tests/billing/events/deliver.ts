import Stripe from 'stripe'
import { readValue } from '../../support/database/sql.ts'
import { type Shop, WEBHOOK } from '../shop.ts'

export const EVENT = { id: 'evt_1', object: 'event', type: 'price.updated', data: { object: {} } }

interface Delivery {
  readonly body?: string
  readonly secret?: string
  /** Seconds since 1970. */
  readonly timestamp?: number
  readonly signature?: string
}

/** Sends a signed event to the webhook. */
export function deliver(shop: Shop, delivery: Delivery = {}) {
  const { body = JSON.stringify(EVENT), secret = shop.secrets[0] ?? '' } = delivery
  const { timestamp = shop.now() / 1000 } = delivery
  const { signature = sign({ body, secret, timestamp }) } = delivery
  return shop.app.send('POST', WEBHOOK, { body, headers: { 'stripe-signature': signature } })
}

/** The header of a body that this secret signs. */
export function sign({ body: payload, secret, timestamp }: Required<Omit<Delivery, 'signature'>>) {
  return Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp })
}

/** Counts the events that have had an effect. */
export async function countEvents({ app }: Shop): Promise<number> {
  const sql = 'SELECT count(*) FROM processor_events'
  return Number(await readValue(app, sql))
}
