import type Stripe from 'stripe'
import { newId } from '../ids.ts'
import type { CardBehaviour } from '../state.ts'
import { addRow, type World } from '../world.ts'

/** What happens when a card is shown: refused at once, or taken and then charged. */
type Card = { readonly brand: string; readonly last4: string } & {
  readonly behaviour: CardBehaviour | 'refused'
}

/** Test tokens of Stripe: those that the SDK's users know. */
const TOKENS: Readonly<Record<string, Card>> = {
  pm_card_visa: { brand: 'visa', last4: '4242', behaviour: 'pays' },
  pm_card_mastercard: { brand: 'mastercard', last4: '4444', behaviour: 'pays' },
  pm_card_amex: { brand: 'amex', last4: '0005', behaviour: 'pays' },
  pm_card_chargeCustomerFail: { brand: 'visa', last4: '0341', behaviour: 'declines' },
  pm_card_visa_chargeDeclined: { brand: 'visa', last4: '0002', behaviour: 'refused' },
}

const NUMBERS: Readonly<Record<string, keyof typeof TOKENS>> = {
  '4242424242424242': 'pm_card_visa',
  '5555555555554444': 'pm_card_mastercard',
  '378282246310005': 'pm_card_amex',
  '4000000000000341': 'pm_card_chargeCustomerFail',
  '4000000000000002': 'pm_card_visa_chargeDeclined',
}

/** The card of a test token or a test number (spaces do not count), or null. */
export function findCard(tokenOrNumber: string): Card | null {
  const text = tokenOrNumber.replaceAll(' ', '')
  return TOKENS[NUMBERS[text] ?? text] ?? null
}

/** Stores the card as a payment method of `customer`; one of nobody is not told by an event. */
export function addCard(
  world: World,
  { brand, last4, behaviour }: Card,
  customer: string | null,
): Stripe.PaymentMethod {
  const method: Stripe.PaymentMethod = {
    id: newId('pm'),
    object: 'payment_method',
    billing_details: { address: null, email: null, name: null, phone: null, tax_id: null },
    card: {
      brand,
      checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: 'pass' },
      country: 'US',
      display_brand: brand,
      exp_month: 12,
      exp_year: new Date(world.now() * 1000).getUTCFullYear() + 3,
      fingerprint: `double${last4}`,
      funding: 'credit',
      generated_from: null,
      last4,
      networks: { available: [brand], preferred: null },
      regulated_status: 'unregulated',
      three_d_secure_usage: { supported: true },
      wallet: null,
    },
    created: world.now(),
    customer,
    customer_account: null,
    livemode: false,
    metadata: {},
    type: 'card',
  }
  world.state.cards.set(method.id, behaviour === 'pays' ? 'pays' : 'declines')
  const told = customer === null ? undefined : 'payment_method.attached'
  return addRow(world, world.state.tables.paymentMethods, method, told)
}
