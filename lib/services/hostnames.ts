import { BoundedCache } from '../bounded-cache.ts'
import { HOUR_MS, MINUTE_MS } from '../durations.ts'
import type { Address } from '../net/address.ts'
import type { AskHostname } from '../net/hostname.ts'
import { isPublic } from '../net/public-address.ts'

/** Finds the hostname of an address; undefined if it has none, or if the DNS gives no answer in time. */
export type FindHostname = (address: Address) => Promise<string | undefined>

/** Queries at the same time. An answer that would need one more has no hostname. */
const MOST_QUERIES = 64
const CACHED_ADDRESSES = 20_000
const KEPT_MS = HOUR_MS
/** Servers that fail are asked again sooner. */
const FAILURE_KEPT_MS = MINUTE_MS

interface Cached {
  readonly name: string | undefined
  readonly until: number
}

/**
 * Asks only about public addresses: the names of others are those of the operator's own network. Keeps
 * what it finds. Equal queries at the same time are one. `now`: milliseconds of a clock that is
 * never set back.
 */
export function createFindHostname(
  ask: AskHostname,
  now: () => number = () => performance.now(),
): FindHostname {
  const cache = new BoundedCache<string, Cached>(CACHED_ADDRESSES)
  const running = new Map<string, Promise<string | undefined>>()
  const askAndKeep = async (address: Address) => {
    const keep = (name: string | undefined, ms: number) => {
      cache.set(address.text, { name, until: now() + ms })
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
    if (running.size >= MOST_QUERIES) return undefined
    const query = askAndKeep(address)
    running.set(address.text, query)
    return query
  }
}
