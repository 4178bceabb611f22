import type { StripeEvent } from '../contract/billing-schemas.ts'
import { USER_FIELD } from './told.ts'

/** Whom an event is about. */
export interface EventSubject {
  readonly customer: string
  /** The user whom a subscription or a checkout of ours names. */
  readonly user: string | null
}

/** The events after which a user may do other things than before, or may soon. */
export const HANDLED_EVENTS: readonly string[] = [
  'checkout.session.async_payment_failed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.completed',
  'checkout.session.expired',
  'customer.deleted',
  'customer.discount.created',
  'customer.discount.deleted',
  'customer.discount.updated',
  'customer.subscription.created',
  'customer.subscription.deleted',
  'customer.subscription.paused',
  'customer.subscription.pending_update_applied',
  'customer.subscription.pending_update_expired',
  'customer.subscription.resumed',
  'customer.subscription.trial_will_end',
  'customer.subscription.updated',
  'customer.updated',
  'invoice.created',
  'invoice.finalization_failed',
  'invoice.marked_uncollectible',
  'invoice.paid',
  'invoice.payment_action_required',
  'invoice.payment_failed',
  'invoice.voided',
  'payment_method.attached',
  'payment_method.automatically_updated',
  'payment_method.detached',
  'payment_method.updated',
]

/** Whom the event is about; null: nobody, or it is of a kind that changes nothing for us. */
export function subjectOf({ type, data }: StripeEvent): EventSubject | null {
  if (!HANDLED_EVENTS.includes(type)) return null
  const { object, previous_attributes: previous } = data
  const named = isOfCustomer(type) ? object['id'] : (object['customer'] ?? previous?.['customer'])
  const customer = idOf(named)
  return customer === null ? null : { customer, user: userOf(type, object) }
}

function isOfCustomer(type: string): boolean {
  return type === 'customer.updated' || type === 'customer.deleted'
}

type Fields = Readonly<Record<string, unknown>>

/** Of metadata, which only who has the secret key sets; a payment link takes other fields from its URL. */
function userOf(type: string, object: Fields): string | null {
  const isOurs = type.startsWith('checkout.session.') || type.startsWith('customer.subscription.')
  return isOurs ? textOf(fieldsOf(object['metadata'])[USER_FIELD]) : null
}

/** An id, or the object that was put in its place. */
function idOf(value: unknown): string | null {
  return textOf(value) ?? textOf(fieldsOf(value)['id'])
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
