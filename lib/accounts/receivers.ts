import { BoundedCache } from '../bounded-cache.ts'
import { SECOND_MS } from '../durations.ts'
import { countSiteChanges, type FindReceiver } from './site-owner.ts'

/** The most origins in the cache. */
const MAX_CACHED = 100_000

/**
 * Caches what `find` returns until `mayBeOld` returns true: every beacon needs it. An origin without a receiver
 * is looked up again, so that a new site gets beacons at once.
 */
export function cacheReceivers(find: FindReceiver, mayBeOld: () => boolean): FindReceiver {
  const newCache = () => new BoundedCache<string, Promise<string | null>>(MAX_CACHED)
  let found = newCache()
  return (name) => {
    if (mayBeOld()) found = newCache()
    const known = found.get(name)
    if (known !== undefined) return known
    // If sites change meanwhile, the answer may be old: it goes into the old cache, which nobody reads any more.
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
 * Returns a function that says whether sites may have changed since it last returned true: this process has
 * changed one, or a second has passed, in which other processes may have.
 */
export function changedOrAfterSecond(clock = () => performance.now()): () => boolean {
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
 * Returns a function that says whether `onChange` has called its listener since the last call. It must do so
 * after each change of sites.
 */
export function changedSinceCall(onChange: (listener: () => void) => void): () => boolean {
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
