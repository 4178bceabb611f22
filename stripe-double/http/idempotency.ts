import type { Answer } from './answer.ts'
import { badRequest, StripeDoubleError } from './stripe-error.ts'

/** Stripe keeps answers for at least a day. */
const KEPT_SECONDS = 86_400

interface Keyed {
  readonly key: string
  /** The path and the parameters, as sent. */
  readonly fingerprint: string
}

/**
 * Like Stripe, keeps the answer of each call with an idempotency key, whether it succeeded or failed. A call
 * that is refused before it begins is not kept. Answers are in memory only.
 */
export function createIdempotency(now: () => number) {
  const kept = new Map<string, { fingerprint: string; answer: Answer; at: number }>()
  const running = new Set<string>()
  return {
    /** Marks the key as in use until `release()`. Returns null if it is in use already. */
    begin(key: string): { readonly release: () => void } | null {
      if (running.has(key)) return null
      running.add(key)
      return { release: () => running.delete(key) }
    },
    /** Returns the kept answer, or null. Throws if the call had other parameters. */
    find({ key, fingerprint }: Keyed): Answer | null {
      if (key.length > 255) throw badRequest('Idempotency keys have at most 255 characters')
      const found = kept.get(key)
      if (found === undefined || now() - found.at > KEPT_SECONDS) return null
      if (found.fingerprint === fingerprint) return { ...found.answer, replayed: true }
      throw new StripeDoubleError({
        status: 400,
        type: 'idempotency_error',
        message: `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
      })
    },
    keep({ key, fingerprint }: Keyed, answer: Answer): void {
      kept.set(key, { fingerprint, answer, at: now() })
    },
  }
}

/** The answer to a call whose key is in use. */
export function keyInUse(): Answer {
  const error = {
    type: 'idempotency_error',
    code: 'idempotency_key_in_use',
    message: 'There is currently another in-progress request using this Idempotent Key.',
  }
  return { status: 409, body: { error } }
}
