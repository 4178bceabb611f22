import { BoundedCache } from '../parts/bounded-cache.ts'
import { createQueues, type QueueOptions } from '../parts/task-queue.ts'

/** How many good credentials are remembered; with more, the oldest are forgotten. */
const REMEMBERED = 100_000

/**
 * Lets each client look up only a few unknown credentials at the same time, so that a flood of bad
 * ones cannot flood the database or the auth service. A credential that was recently good never waits.
 */
export function createCredentialQueues(options: QueueOptions) {
  const queues = createQueues(options)
  const known = new BoundedCache<string, true>(REMEMBERED)
  return {
    /**
     * Runs `lookUp`, which throws if the credential is bad, once it is first in the queue. Returns null
     * without running it if too many of the client's look-ups are waiting.
     */
    run: async <Found extends object>(
      client: string,
      credential: string,
      lookUp: () => Promise<Found>,
    ): Promise<Found | null> => {
      if (known.get(credential) === true) return lookUp()
      const found = await queues.run(client, lookUp)
      if (found !== null) known.set(credential, true)
      return found
    },
  }
}
