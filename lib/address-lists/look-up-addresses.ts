/** The answer of the service to a part of the addresses. */
export type Reply<Result> =
  | { readonly kind: 'answered'; readonly results: readonly Result[] }
  | { readonly kind: 'wait'; readonly seconds: number }

export interface LookUp<Result> {
  /** Addresses per request. */
  readonly size: number
  /** Throws an Error with the reason if there is no answer. */
  readonly send: (ips: readonly string[]) => Promise<Reply<Result>>
  readonly wait: (seconds: number) => Promise<void>
  /** Receives the results in the order of the addresses. */
  readonly keep: (results: readonly Result[]) => void
}

/** After this many waits for one part, the look-up stops with an error. */
const MAX_WAITS = 10

/** Looks up the addresses from `start` on in parts, and waits as long as the service says. */
export async function lookUpAddresses<Result>(
  addresses: readonly string[],
  start: number,
  lookUp: LookUp<Result>,
): Promise<void> {
  for (let at = start; at < addresses.length; at += lookUp.size) {
    lookUp.keep(await sendPatiently(addresses.slice(at, at + lookUp.size), lookUp))
  }
}

async function sendPatiently<Result>(ips: readonly string[], { send, wait }: LookUp<Result>) {
  for (let waits = 0; ; waits++) {
    const reply = await send(ips)
    if (reply.kind === 'answered') return reply.results
    if (waits === MAX_WAITS) throw new Error('The service is too busy. Continue later.')
    await wait(reply.seconds)
  }
}
