import * as v from 'valibot'
import { object, strictObject, textUpTo } from '../common.ts'

/** Texts that an invoice can print: no control characters, no lone surrogates. */
const LINE = /^(?:[ -~\u00a0-\ud7ff\ue000-\uffff]|[\ud800-\udbff][\udc00-\udfff])*$/
const FIRST_LINE = new RegExp(`^(?=.*\\S)${LINE.source.slice(1)}`)
const optionalLine = (most: number, description: string) =>
  v.nullish(
    v.pipe(
      textUpTo(most),
      v.regex(LINE, 'must have no control characters'),
      v.description(description),
    ),
  )

const Address = strictObject('The whole address: omitted lines and null become empty', {
  line1: v.pipe(
    textUpTo(200),
    v.regex(FIRST_LINE, 'must not be blank, and must have no control characters'),
    v.description('Street and number'),
  ),
  line2: optionalLine(200, 'Building, floor and the like; null: none'),
  city: optionalLine(100, 'City or town; null: none'),
  state: optionalLine(100, 'State, province or county; null: none'),
  postal_code: optionalLine(20, 'Postal code; null: none'),
  postalCode: optionalLine(20, 'Another name for postal_code; null: none'),
  country: v.pipe(
    v.string(),
    v.regex(/^[A-Z]{2}$/, 'must be two capital letters, such as GB'),
    v.description('ISO 3166-1 alpha-2'),
  ),
})

/** Also takes the address of `BillingDetails` unchanged, if it has `line1` and `country`. */
export const AddressBody = v.pipe(
  Address,
  v.check(
    ({ postal_code, postalCode }) => (postal_code ?? null) === null || postalCode === undefined,
    'postalCode: is another name for postal_code; send one of them',
  ),
)
export type AddressBody = v.InferOutput<typeof AddressBody>

export const PromoBody = object('The promotion code to apply', {
  code: v.pipe(
    textUpTo(200),
    v.minLength(1),
    v.description('A promotion code, in upper or lower case'),
  ),
})

export const TaxIdBody = object('The tax ID to add', {
  type: v.pipe(
    textUpTo(32),
    v.regex(/^[a-z]{2}(_[a-z]+){1,2}$/, 'must be a type that Stripe knows, such as eu_vat'),
    v.description('A type that Stripe knows, such as eu_vat'),
  ),
  value: v.pipe(
    textUpTo(64),
    v.regex(/^(?=.*\S)[ -~]*$/, 'must not be blank, and must be ASCII'),
    v.description('The tax ID, such as DE123456789'),
  ),
})
export type TaxIdBody = v.InferOutput<typeof TaxIdBody>

export const PaymentMethodBody = object('The new default payment method', {
  paymentMethodId: v.pipe(
    textUpTo(255),
    v.regex(/^pm_\w+$/, 'must be an id that begins with pm_'),
    v.description("The id that Stripe's form returns"),
  ),
})
