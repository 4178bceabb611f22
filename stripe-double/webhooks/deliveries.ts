import { createHmac } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type Stripe from 'stripe'
import { newId } from '../ids.ts'
import type { State } from '../state.ts'
import { createDeliverySwitches } from './delivery-switches.ts'

/** One event on its way to one endpoint. */
export interface Delivery {
  readonly id: string
  readonly event: string
  readonly type: string
  readonly url: string
  outcome: 'waiting' | 'delivered' | 'failed' | 'dropped'
  /** The status of each answer, or the network error. */
  readonly attempts: (number | string)[]
}

/** A delivery with its body. */
interface Parcel {
  readonly delivery: Delivery
  readonly secrets: readonly string[]
  readonly body: string
}

interface DeliveryOptions {
  /** Milliseconds before each retry. After the last one the delivery has failed. */
  readonly retryDelaysMs: readonly number[]
  /** The time for signatures, in milliseconds since 1970. */
  readonly realNow: () => number
}

const TIMEOUT_MS = 10_000

/** Sends events one by one to the webhooks. Retries delay no other event. */
export function createDeliveries(state: State, { retryDelaysMs, realNow }: DeliveryOptions) {
  const all: Delivery[] = []
  const switches = createDeliverySwitches<Parcel>()
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()
  let queue: Promise<void> = Promise.resolve()

  const track = (work: Promise<void>) => {
    running.add(work)
    void work.finally(() => running.delete(work))
    return work
  }
  const post = async ({ delivery, secrets, body }: Parcel) => {
    const now = Math.floor(realNow() / 1000)
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'stripe-signature': signatureHeader(body, secrets, now),
    }
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(TIMEOUT_MS)])
    const attempt = await answerOf(delivery.url, { method: 'POST', headers, body, signal })
    delivery.attempts.push(attempt)
    const isDelivered = typeof attempt === 'number' && attempt >= 200 && attempt < 300
    if (isDelivered) delivery.outcome = 'delivered'
    return isDelivered
  }
  const retry = async (parcel: Parcel) => {
    for (const delayMs of retryDelaysMs) {
      await wait(delayMs, undefined, { signal: stopping.signal }).catch(() => null)
      if (stopping.signal.aborted) break
      if (await post(parcel)) return
    }
    parcel.delivery.outcome = 'failed'
  }
  const first = async (parcel: Parcel) => {
    if (stopping.signal.aborted || (await post(parcel))) return
    void track(retry(parcel))
  }
  const enqueue = (parcels: readonly Parcel[]) => {
    for (const parcel of parcels) {
      queue = track(queue.then(() => first(parcel)))
    }
  }
  return {
    send(event: Stripe.Event): void {
      for (const parcel of parcelsFor(state, event)) {
        all.push(parcel.delivery)
        const { send, dropped } = switches.pass(parcel)
        if (dropped) parcel.delivery.outcome = 'dropped'
        enqueue(send)
      }
    },
    list: (): readonly Delivery[] => all,
    switchNext: switches.set,
    /** Sends what is held back, and resolves when every delivery is answered or abandoned. */
    async settled(): Promise<void> {
      enqueue(switches.release())
      while (running.size > 0) await Promise.all(running)
    },
    async [Symbol.asyncDispose](): Promise<void> {
      stopping.abort()
      while (running.size > 0) await Promise.all(running)
    },
  }
}

/** One parcel for each webhook. */
function parcelsFor(state: State, event: Stripe.Event): Parcel[] {
  const { id, type } = event
  return [...state.webhooks].map(([url, secrets]) => ({
    delivery: { id: newId('whd'), event: id, type, url, outcome: 'waiting', attempts: [] },
    secrets,
    body: JSON.stringify(event, null, 2),
  }))
}

async function answerOf(url: string, init: RequestInit): Promise<number | string> {
  try {
    const response = await fetch(url, init)
    await response.body?.cancel()
    return response.status
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** The `Stripe-Signature` of the raw body, with one v1 for each secret. */
function signatureHeader(body: string, secrets: readonly string[], nowSeconds: number): string {
  const signed = `${nowSeconds}.${body}`
  const signatures = secrets.map(
    (secret) => `v1=${createHmac('sha256', secret).update(signed).digest('hex')}`,
  )
  return [`t=${nowSeconds}`, ...signatures].join(',')
}
