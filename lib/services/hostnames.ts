import { BoundedCache } from '../parts/bounded-cache.ts'
import { HOUR_MS, MINUTE_MS } from '../parts/durations.ts'
import type { Address } from '../parts/net/address.ts'
import type { AskHostname } from '../parts/net/hostname.ts'
import { isPublic } from '../parts/net/public-address.ts'
import { ownText } from '../parts/own-text.ts'

/** Finds the hostname of an address; undefined if it has none, or if the DNS gives no answer in time. */
export type FindHostname = (address: Address) => Promise<string | undefined>

/** The largest number of queries at the same time. Above it, answers have no hostname. */
const MAX_QUERIES = 64
const CACHED_ADDRESSES = 20_000
const KEPT_MS = HOUR_MS
/** Servers that fail are asked again sooner. */
const FAILURE_KEPT_MS = MINUTE_MS

interface Cached {
  readonly name: string | undefined
  readonly until: number
}

/**
 * Asks only about public addresses: other names would reveal the operator's own network. Caches answers,
 * and joins equal queries that run at the same time. `now`: milliseconds of a clock that is never set
 * back.
 */
export function createFindHostname(
  ask: AskHostname,
  now: () => number = () => performance.now(),
): FindHostname {
  const cache = new BoundedCache<string, Cached>(CACHED_ADDRESSES)
  const running = new Map<string, Promise<string | undefined>>()
  const askAndKeep = async (address: Address) => {
    const keep = (name: string | undefined, ms: number) => {
      cache.set(ownText(address.text), { name, until: now() + ms })
      return name
    }
    try {
      return keep(await ask(address), KEPT_MS)
    } catch {
      return keep(undefined, FAILURE_KEPT_MS)
    } finally {
      running.delete(address.text)
    }
  }
  return async (address) => {
    if (!isPublic(address)) return undefined
    const cached = cache.get(address.text)
    if (cached !== undefined && now() < cached.until) return cached.name
    const same = running.get(address.text)
    if (same !== undefined) return same
    if (running.size >= MAX_QUERIES) return undefined
    const query = askAndKeep(address)
    running.set(address.text, query)
    return query
  }
}
