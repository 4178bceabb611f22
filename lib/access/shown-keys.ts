import { BoundedCache } from '../bounded-cache.ts'
import { MINUTE_MS } from '../durations.ts'

const SHOWN_MS = 10 * MINUTE_MS
const MAX_SHOWN = 1_000

interface Shown<Key> {
  readonly userId: string
  readonly key: Key
  readonly until: number
}

/**
 * New keys that a page may show to their user again for ten minutes, so that reloading it neither
 * loses the key nor makes another one. In memory only: the database has only the hash of a key.
 */
export function createShownKeys<Key>(now: () => number) {
  const shown = new BoundedCache<string, Shown<Key>>(MAX_SHOWN)
  return {
    /** Returns the id by which the user's pages find the key. */
    keep: (userId: string, key: Key): string => {
      const id = crypto.randomUUID()
      shown.set(id, { userId, key, until: now() + SHOWN_MS })
      return id
    },
    /** null if the key is another user's, or was made too long ago. */
    find: (userId: string, id: string): Key | null => {
      const found = shown.get(id)
      return found?.userId === userId && now() < found.until ? found.key : null
    },
  }
}
