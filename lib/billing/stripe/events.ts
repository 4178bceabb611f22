import Stripe from 'stripe'
import { StripeEvent } from '../../contract/billing/billing-schemas.ts'
import { ApiError } from '../../parts/errors.ts'
import { parse } from '../../parts/parse.ts'
import { USER_FIELD } from './metadata.ts'

/** An event as Stripe sent it: the signature covers exactly these bytes. */
export interface SignedEvent {
  readonly bytes: Uint8Array
  /** The header `Stripe-Signature`. */
  readonly signature: string
}

const TOLERANCE_SECONDS = 5 * 60

/**
 * Returns the event if one of the secrets signed it within five minutes of `now`, in epoch
 * milliseconds. Throws BAD_REQUEST for everything else, thin events included.
 */
export async function readSignedEvent(
  signed: SignedEvent,
  secrets: readonly string[],
  now: number,
): Promise<StripeEvent> {
  requireNotInFuture(signed, now)
  for (const secret of secrets) {
    const event = await verify(signed, secret, now)
    if (event !== null) return parse(StripeEvent, event)
  }
  throw new ApiError('BAD_REQUEST', 'Stripe-Signature: does not sign this body, or is too old')
}

/** null if this secret did not sign the event. Only the asynchronous check runs on Deno and Bun. */
async function verify(
  { bytes, signature }: SignedEvent,
  secret: string,
  now: number,
): Promise<unknown> {
  const { webhooks, errors } = Stripe
  const checked = [bytes, signature, secret, TOLERANCE_SECONDS, undefined, now] as const
  try {
    return await webhooks.constructEventAsync(...checked)
  } catch (error) {
    if (error instanceof errors.StripeSignatureVerificationError) return null
    throw new ApiError('BAD_REQUEST', 'The body is not an event that this service reads')
  }
}

/**
 * The SDK refuses a time that is too old, but not one in the future. If the header has several times,
 * the SDK uses the last.
 */
function requireNotInFuture({ signature }: SignedEvent, now: number): void {
  const at = /^(?:.*,)?t=(\d+)/.exec(signature)?.[1]
  if (at === undefined || Number(at) <= now / 1000 + TOLERANCE_SECONDS) return
  throw new ApiError('BAD_REQUEST', 'Stripe-Signature: its time is in the future')
}

/** The customer that an event is about. */
export interface EventSubject {
  readonly customer: string
  /** The user that our metadata of the subscription, checkout or customer names; null if none. */
  readonly user: string | null
}

/**
 * The events after which the customer's subscription is read again. When its status changes, Stripe sends
 * `customer.subscription.updated`, whatever the cause.
 */
export const HANDLED_EVENTS: readonly string[] = [
  'checkout.session.completed',
  'customer.deleted',
  'customer.subscription.created',
  'customer.subscription.deleted',
  'customer.subscription.paused',
  'customer.subscription.pending_update_applied',
  'customer.subscription.pending_update_expired',
  'customer.subscription.resumed',
  'customer.subscription.updated',
  'customer.updated',
  'invoice.created',
  'invoice.paid',
  'invoice.payment_failed',
]

/** Returns null if the event is not about a customer, or if its type does not concern us. */
export function subjectOf({ type, data }: StripeEvent): EventSubject | null {
  if (!HANDLED_EVENTS.includes(type)) return null
  const { object } = data
  const isAboutCustomer = type === 'customer.updated' || type === 'customer.deleted'
  const customer = idOf(object[isAboutCustomer ? 'id' : 'customer'])
  return customer === null ? null : { customer, user: userOf(type, object) }
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Trusts only metadata, which only the secret key can set. Other fields may come from the URL of a
 * payment link, which anybody can edit.
 */
function userOf(type: string, object: Fields): string | null {
  const isOurs = /^(checkout\.session|customer\.subscription)\.|^customer\.updated$/.test(type)
  return isOurs ? textOf(fieldsOf(object['metadata'])[USER_FIELD]) : null
}

/** Stripe sends an id, or the object itself. */
function idOf(value: unknown): string | null {
  return textOf(value) ?? textOf(fieldsOf(value)['id'])
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
