import { BoundedCache } from '../bounded-cache.ts'
import { MINUTE_MS } from '../durations.ts'

const SHOWN_MS = 10 * MINUTE_MS
const MAX_SHOWN = 1_000

interface Shown<Secret> {
  readonly userId: string
  readonly secret: Secret
  readonly until: number
}

/**
 * New secrets, such as keys, that a page may show to their user again for ten minutes, so that reloading
 * it neither loses the secret nor makes another one. In memory only: the database has only hashes.
 */
export function createShownSecrets<Secret>(now: () => number) {
  const shown = new BoundedCache<string, Shown<Secret>>(MAX_SHOWN)
  return {
    /** Returns the id by which the user's pages find the secret: the given one, or a new one. */
    keep: (userId: string, secret: Secret, id: string = crypto.randomUUID()): string => {
      shown.set(id, { userId, secret, until: now() + SHOWN_MS })
      return id
    },
    /** null if the secret is another user's, or was made too long ago. */
    find: (userId: string, id: string): Secret | null => {
      const found = shown.get(id)
      return found?.userId === userId && now() < found.until ? found.secret : null
    },
  }
}
