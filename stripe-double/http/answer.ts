import Stripe from 'stripe'
import { newId } from '../ids.ts'

export interface Answer {
  readonly status: number
  readonly body: object
  /** Given before to the same idempotency key. */
  readonly replayed?: true
}

export function toResponse({ status, body, replayed }: Answer): Response {
  const headers = {
    'content-type': 'application/json',
    'request-id': newId('req', 14),
    'stripe-version': Stripe.API_VERSION,
    ...(replayed === true && { 'idempotent-replayed': 'true' }),
  }
  return new Response(JSON.stringify(body, null, 2), { status, headers })
}

/** What a restricted key is told. */
const NOT_PERMITTED =
  "The provided key 'rk_test_*' does not have the required permissions for this endpoint on account 'acct_double'. Having the 'rak_customer_read' permission would allow this request to continue."

/** What Stripe says when it is to be in trouble. */
export function injected(kind: '403' | '429' | '500'): Answer {
  if (kind === '500') {
    return {
      status: 500,
      body: { error: { type: 'api_error', message: 'An unknown error occurred' } },
    }
  }
  if (kind === '403') {
    const error = { type: 'invalid_request_error', message: NOT_PERMITTED }
    return { status: 403, body: { error } }
  }
  const error = { type: 'invalid_request_error', code: 'rate_limit', message: 'Too many requests' }
  return { status: 429, body: { error } }
}

export function unrecognized(method: string, path: string): Answer {
  const message = `Unrecognized request URL (${method}: ${path}). The double does not know it.`
  return { status: 404, body: { error: { type: 'invalid_request_error', message } } }
}
