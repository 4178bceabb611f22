import * as v from 'valibot'
import { object, strictObject, textUpTo } from '../common.ts'

/** Texts that an invoice can print: no control characters, no lone surrogates. */
const LINE = /^(?:[ -~\u00a0-\ud7ff\ue000-\uffff]|[\ud800-\udbff][\udc00-\udfff])*$/
const FIRST_LINE = new RegExp(`^(?=.*\\S)${LINE.source.slice(1)}`)
const Line = (most: number) =>
  v.pipe(textUpTo(most), v.regex(LINE, 'must have no control characters'))

const Address = strictObject('The whole address: omitted lines and null become empty', {
  line1: v.pipe(
    textUpTo(200),
    v.regex(FIRST_LINE, 'must not be blank, and must have no control characters'),
  ),
  line2: v.nullish(Line(200)),
  city: v.nullish(Line(100)),
  state: v.nullish(Line(100)),
  postal_code: v.nullish(Line(20)),
  postalCode: v.nullish(v.pipe(Line(20), v.description('Another name for postal_code'))),
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
  value: v.pipe(textUpTo(64), v.regex(/^(?=.*\S)[ -~]*$/, 'must not be blank, and must be ASCII')),
})
export type TaxIdBody = v.InferOutput<typeof TaxIdBody>

export const PaymentMethodBody = object('The new default payment method', {
  paymentMethodId: v.pipe(
    textUpTo(255),
    v.regex(/^pm_\w+$/, 'must be an id that begins with pm_'),
    v.description("The id that Stripe's form returns"),
  ),
})
