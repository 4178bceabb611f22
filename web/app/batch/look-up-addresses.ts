import type { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'

/** The answer of the service to a part of the addresses. */
export type Reply =
  | { readonly kind: 'answered'; readonly results: readonly GeolocationResult[] }
  | { readonly kind: 'wait'; readonly seconds: number }

export interface LookUp {
  /** Addresses per request. */
  readonly size: number
  /** Throws an Error with the reason if there is no answer. */
  readonly send: (ips: readonly string[]) => Promise<Reply>
  readonly wait: (seconds: number) => Promise<void>
  /** Receives the results in the order of the addresses. */
  readonly keep: (results: readonly GeolocationResult[]) => void
}

/** After this many waits for one part, the look-up stops with an error. */
const MAX_WAITS = 10

/** Looks up the addresses from `start` on in parts, and waits whenever the service says so. */
export async function lookUpAddresses(
  addresses: readonly string[],
  start: number,
  lookUp: LookUp,
): Promise<void> {
  for (let at = start; at < addresses.length; at += lookUp.size) {
    lookUp.keep(await sendPatiently(addresses.slice(at, at + lookUp.size), lookUp))
  }
}

async function sendPatiently(ips: readonly string[], { send, wait }: LookUp) {
  for (let waits = 0; ; waits++) {
    const reply = await send(ips)
    if (reply.kind === 'answered') return reply.results
    if (waits === MAX_WAITS) throw new Error('The service is too busy. Continue later.')
    await wait(reply.seconds)
  }
}
