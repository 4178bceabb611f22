import { BoundedCache } from '../parts/bounded-cache.ts'
import { SECOND_MS } from '../parts/durations.ts'
import { countSiteChanges, type FindReceiver } from './site-receiver.ts'

/** The most origins in the cache. */
const MAX_CACHED = 100_000

/**
 * Caches what `find` returns, which every beacon needs, until `isStale` returns true. An origin without a
 * receiver is looked up again, so that a new site gets beacons at once.
 */
export function cacheReceivers(find: FindReceiver, isStale: () => boolean): FindReceiver {
  const newCache = () => new BoundedCache<string, Promise<string | null>>(MAX_CACHED)
  let found = newCache()
  return (name) => {
    if (isStale()) found = newCache()
    const known = found.get(name)
    if (known !== undefined) return known
    // If sites change meanwhile, this stays the old cache, which nobody reads any more.
    const cache = found
    const id = find(name)
    cache.set(name, id)
    const forget = () => cache.delete(name)
    // All beacons of this turn of the event loop share the answer.
    id.then((siteId) => siteId === null && setImmediate(forget), forget)
    return id
  }
}

/**
 * Returns `isStale` for sites in a file. It returns true once this process has changed a site, and once a
 * second, because another process may have changed one.
 */
export function staleAfterSecond(clock = () => performance.now()): () => boolean {
  let since = clock()
  let changes = countSiteChanges()
  return () => {
    if (changes === countSiteChanges() && clock() - since < SECOND_MS) return false
    since = clock()
    changes = countSiteChanges()
    return true
  }
}

/**
 * Returns `isStale` for sites whose every change `onChange` reports. It returns true at the first call after a
 * change.
 */
export function staleAfterChange(onChange: (listener: () => void) => void): () => boolean {
  let isChanged = false
  onChange(() => {
    isChanged = true
  })
  return () => {
    const wasChanged = isChanged
    isChanged = false
    return wasChanged
  }
}
