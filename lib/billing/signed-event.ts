import Stripe from 'stripe'
import { StripeEvent } from '../contract/billing-schemas.ts'
import { ApiError } from '../errors.ts'
import { parse } from '../parse.ts'

/** An event as it comes: the signature is over these very bytes. */
export interface Signed {
  readonly bytes: Uint8Array
  /** The header `Stripe-Signature`. */
  readonly signature: string
}

const MOST_SECONDS_OFF = 5 * 60

/**
 * The event, signed by one of the secrets within five minutes of `now`, epoch milliseconds. Throws
 * BAD_REQUEST for anything else, such as an event of the thin kind.
 */
export async function readSignedEvent(
  signed: Signed,
  secrets: readonly string[],
  now: number,
): Promise<StripeEvent> {
  requireNotAhead(signed, now)
  for (const secret of secrets) {
    const event = await check(signed, secret, now)
    if (event !== null) return parse(StripeEvent, event)
  }
  throw new ApiError('BAD_REQUEST', 'Stripe-Signature: does not sign this body, or is too old')
}

/** null: another secret may have signed it. Outside of Node.js the SDK signs by WebCrypto alone. */
async function check({ bytes, signature }: Signed, secret: string, now: number): Promise<unknown> {
  const { webhooks, errors } = Stripe
  const checked = [bytes, signature, secret, MOST_SECONDS_OFF, undefined, now] as const
  try {
    return await webhooks.constructEventAsync(...checked)
  } catch (error) {
    if (error instanceof errors.StripeSignatureVerificationError) return null
    throw new ApiError('BAD_REQUEST', 'The body is no event that is read here')
  }
}

/** The SDK refuses only what is too old. Of several times it takes the last. */
function requireNotAhead({ signature }: Signed, now: number): void {
  const at = /^(?:.*,)?t=(\d+)/.exec(signature)?.[1]
  if (at === undefined || Number(at) <= now / 1000 + MOST_SECONDS_OFF) return
  throw new ApiError('BAD_REQUEST', 'Stripe-Signature: is ahead of the time')
}
