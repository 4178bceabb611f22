import type Stripe from 'stripe'
import { badRequest } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { newObject } from '../new-object.ts'
import type { CardBehaviour } from '../state.ts'
import { addRow, getRow, type World } from '../world.ts'

/** A test card. `behaviour` is the outcome of a charge; a `refused` card cannot be attached. */
export interface Card {
  readonly token: string
  readonly number: string
  readonly brand: string
  readonly behaviour: CardBehaviour | 'refused'
}

/** Stripe's test tokens and numbers. */
const CARDS: readonly Card[] = [
  { token: 'visa', number: '4242424242424242', brand: 'visa', behaviour: 'pays' },
  { token: 'mastercard', number: '5555555555554444', brand: 'mastercard', behaviour: 'pays' },
  { token: 'amex', number: '378282246310005', brand: 'amex', behaviour: 'pays' },
  { token: 'chargeCustomerFail', number: '4000000000000341', brand: 'visa', behaviour: 'declines' },
  { token: 'visa_chargeDeclined', number: '4000000000000002', brand: 'visa', behaviour: 'refused' },
  {
    token: 'authenticationRequired',
    number: '4000002760003184',
    brand: 'visa',
    behaviour: 'asks',
  },
  {
    token: 'authenticationRequiredOnSetup',
    number: '4000002500003155',
    brand: 'visa',
    behaviour: 'asks-once',
  },
  {
    token: 'authenticationRequiredChargeDeclinedInsufficientFunds',
    number: '4000008260003178',
    brand: 'visa',
    behaviour: 'asks-then-declines',
  },
]

/** Finds the card of a test token or a test number, with or without spaces. */
export function findCard(tokenOrNumber: string): Card | null {
  const text = tokenOrNumber.replaceAll(' ', '')
  return CARDS.find(({ token, number }) => text === number || text === `pm_card_${token}`) ?? null
}

/** Stores the card as a payment method. Sends an event if it has a customer. */
export function addCard(
  world: World,
  { number, brand, behaviour }: Card,
  customer: string | null,
): Stripe.PaymentMethod {
  const method = newObject<Stripe.PaymentMethod>(world, {
    id: newId('pm'),
    object: 'payment_method',
    card: {
      brand,
      exp_month: 12,
      exp_year: new Date(world.now() * 1000).getUTCFullYear() + 3,
      funding: 'credit',
      last4: number.slice(-4),
    },
    customer,
    type: 'card',
  })
  world.state.cards.set(method.id, behaviour === 'refused' ? 'declines' : behaviour)
  const type = customer === null ? undefined : 'payment_method.attached'
  return addRow(world, 'paymentMethods', method, type)
}

/** Confirms the card for later payments, so that a bank that asks for this only once does not ask again. */
export function setUpCard({ state }: World, method: string): void {
  if (state.cards.get(method) === 'asks-once') state.cards.set(method, 'pays')
}

/** Throws unless the payment method is the customer's. The error names `param`. */
export function requireOwnMethod(
  world: World,
  customer: string,
  { id, param }: { id: string | undefined; param: string },
): void {
  if (id === undefined || id === '') return
  const { customer: owner } = getRow(world, 'paymentMethods', id, param)
  if (owner === customer) return
  throw badRequest(
    `The customer does not have a payment method with the ID ${id}. The payment method must be attached to the customer.`,
    { code: 'resource_missing', param },
  )
}
