import { setTimeout as wait } from 'node:timers/promises'
import type Stripe from 'stripe'
import type { State } from '../state.ts'
import { createDeliverySwitches, type DeliverySwitch } from './delivery-switches.ts'
import { type Delivery, type Parcel, parcelsFor } from './parcels.ts'
import { signatureHeader } from './sign.ts'

export interface Deliveries extends AsyncDisposable {
  send(event: Stripe.Event): void
  list(): readonly Delivery[]
  /** What happens to the next `count` deliveries. */
  switchNext(kind: DeliverySwitch, count: number): void
  /** Resolves when all has been answered or given up; what was held back is sent first. */
  settled(): Promise<void>
}

export interface DeliveryOptions {
  /** Waits before each further attempt, in milliseconds; then the delivery has failed. */
  readonly retryDelaysMs: readonly number[]
  /** The time in signatures, milliseconds since 1970. */
  readonly realNow: () => number
}

const TIMEOUT_MS = 10_000

/** Sends events to all endpoints that want them, one after the other; retries do not block. */
export function createDeliveries(
  state: State,
  { retryDelaysMs, realNow }: DeliveryOptions,
): Deliveries {
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
  const post = async ({ delivery, endpoint, body }: Parcel) => {
    const secrets = state.signingSecrets.get(endpoint) ?? []
    const now = Math.floor(realNow() / 1000)
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'stripe-signature': signatureHeader(body, secrets, now),
    }
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(TIMEOUT_MS)])
    const attempt = await answerOf(delivery.url, { method: 'POST', headers, body, signal })
    delivery.attempts.push(attempt)
    return typeof attempt === 'number' && attempt >= 200 && attempt < 300
  }
  const retry = async (parcel: Parcel) => {
    for (const delayMs of retryDelaysMs) {
      await wait(delayMs, undefined, { signal: stopping.signal }).catch(() => null)
      if (stopping.signal.aborted) break
      if (await post(parcel)) return finish(parcel, 'delivered')
    }
    finish(parcel, 'failed')
  }
  const first = async (parcel: Parcel) => {
    if (stopping.signal.aborted) return
    if (await post(parcel)) finish(parcel, 'delivered')
    else void track(retry(parcel))
  }
  const enqueue = (parcels: readonly Parcel[]) => {
    for (const parcel of parcels) {
      queue = track(queue.then(() => first(parcel)))
    }
  }
  return {
    send(event) {
      for (const parcel of parcelsFor(state, event)) {
        all.push(parcel.delivery)
        const { send, dropped } = switches.pass(parcel)
        if (dropped) finish(parcel, 'dropped')
        enqueue(send)
      }
    },
    list: () => all,
    switchNext: switches.set,
    async settled() {
      enqueue(switches.release())
      while (running.size > 0) await Promise.all(running)
    },
    async [Symbol.asyncDispose]() {
      stopping.abort()
      while (running.size > 0) await Promise.all(running)
    },
  }
}

function finish({ delivery }: Parcel, outcome: Delivery['outcome']): void {
  delivery.outcome = outcome
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
