import { reportAttempts } from '../../lasting-failure.ts'
import type { BucketStore } from './bucket-store.ts'

const AWAY = 'cannot share the rate limits with the other nodes; each uses an equal part of them'

/**
 * Lets one question at a time through to the store, and reports when the store fails and when it recovers.
 */
export function askOneByOne(
  charge: BucketStore['charge'],
  onError: (error: unknown, message: string) => void,
): BucketStore['charge'] {
  const attempts = reportAttempts((error) => onError(error, AWAY))
  let isAsking = false
  const ask: BucketStore['charge'] = async (asks) => {
    // Requests stop waiting after a while. Their unanswered questions must not use up the connections.
    if (isAsking) throw new Error('the last question is not answered yet')
    isAsking = true
    try {
      return await charge(asks)
    } finally {
      isAsking = false
    }
  }
  return async (asks) => {
    try {
      const grants = await ask(asks)
      attempts.succeeded()
      return grants
    } catch (error) {
      attempts.failed(error)
      throw error
    }
  }
}
