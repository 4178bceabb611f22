import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { GeolocationResult } from '../../lib/contract/geo/geolocation.ts'

/** Disposing of it ends the load, too, and ignores its outcome. */
export interface LookUps extends Disposable {
  /** How many answers were right. */
  right(): number
  /** How many requests got no answer and were sent again. */
  retries(): number
  /** Ends the load; rejects if an answer was wrong, or if a request stayed without one. */
  stop(): Promise<void>
}

interface LookUpOptions {
  readonly url: string
  readonly key: string
  /** Milliseconds within which each look-up must get its answer. */
  readonly withinMs: number
  /** Whether to ask again at once, as balancers do, while nobody listens. */
  readonly mayRetry: boolean
}

const CLIENTS = 4
const RETRY_MS = 20

/** Starts clients that look up an address in London, one request after the other. */
export function startLookUps(options: LookUpOptions): LookUps {
  let right = 0
  let retries = 0
  let stopped = false
  const client = async () => {
    while (!stopped) {
      const late = AbortSignal.timeout(options.withinMs)
      while (!(await isAnswered(options, late))) {
        late.throwIfAborted()
        retries++
        await sleep(RETRY_MS)
      }
      right++
    }
  }
  const ended = Promise.all(Array.from({ length: CLIENTS }, client))
  // The rejection is for the caller of `stop`.
  ended.catch(() => {})
  const end = () => {
    stopped = true
  }
  return {
    right: () => right,
    retries: () => retries,
    stop: async () => {
      end()
      await ended
    },
    [Symbol.dispose]: end,
  }
}

/** Throws if the answer is not the right one; false if there is none. */
async function isAnswered({ url, key, mayRetry }: LookUpOptions, signal: AbortSignal) {
  const headers = { 'x-api-key': key }
  try {
    const answer = await fetch(`${url}/v1/ip/81.2.69.160`, { headers, signal })
    const body = await answer.text()
    if (answer.status === 200) {
      const { location } = v.parse(GeolocationResult, JSON.parse(body))
      if (location?.city === 'London') return true
    }
    throw new RangeError(`a look-up got ${answer.status} ${body}`)
  } catch (error) {
    // fetch throws a TypeError if the connection fails or breaks.
    if (mayRetry && error instanceof TypeError) return false
    throw error
  }
}
