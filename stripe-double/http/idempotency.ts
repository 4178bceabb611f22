import type { Answer } from './answer.ts'
import { badRequest, StripeDoubleError } from './stripe-error.ts'

/**
 * Returns a function that repeats the earlier answer to an idempotency key, or keeps the answer of
 * `act`. It throws if the parameters differ. Answers are kept in memory only.
 */
export function createIdempotency() {
  const kept = new Map<string, { fingerprint: string; answer: Answer }>()
  return (key: string, fingerprint: string, act: () => Answer): Answer => {
    if (key.length > 255) throw badRequest('Idempotency keys have at most 255 characters')
    const found = kept.get(key)
    if (found?.fingerprint === fingerprint) return { ...found.answer, replayed: true }
    if (found !== undefined) {
      throw new StripeDoubleError({
        status: 400,
        type: 'idempotency_error',
        message: `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
      })
    }
    const answer = act()
    // Like Stripe, does not keep the answer to a call that was rejected before it ran.
    if (answer.status !== 400 && answer.status !== 404) kept.set(key, { fingerprint, answer })
    return answer
  }
}
