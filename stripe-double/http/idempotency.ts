import type { Answer } from './answer.ts'
import { badRequest, StripeDoubleError } from './stripe-error.ts'

interface Kept {
  readonly fingerprint: string
  readonly answer: Answer
}

/** Answers by idempotency key, in memory only. */
export interface Idempotency {
  /** The answer that was given to this key, or null. Throws where the parameters differ. */
  find(key: string, fingerprint: string): Answer | null
  keep(key: string, fingerprint: string, answer: Answer): void
}

export function createIdempotency(): Idempotency {
  const kept = new Map<string, Kept>()
  return {
    find(key, fingerprint) {
      if (key.length > 255) throw badRequest('Idempotency keys have at most 255 characters')
      const found = kept.get(key)
      if (found === undefined) return null
      if (found.fingerprint === fingerprint) return found.answer
      throw new StripeDoubleError({
        status: 400,
        type: 'idempotency_error',
        message: `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
      })
    },
    keep(key, fingerprint, answer) {
      // As Stripe: what was refused before it began is not kept.
      if (answer.status !== 400 && answer.status !== 404) kept.set(key, { fingerprint, answer })
    },
  }
}
