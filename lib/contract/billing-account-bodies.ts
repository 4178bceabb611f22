import * as v from 'valibot'
import { textUpTo } from './common.ts'

/** Texts that a printed invoice could show. */
const LINE = /^(?:[ -~\u00a0-\ud7ff\ue000-\uffff]|[\ud800-\udbff][\udc00-\udfff])*$/
const FIRST_LINE = new RegExp(`^(?=.*\\S)${LINE.source.slice(1)}`)
const Line = (most: number) =>
  v.pipe(textUpTo(most), v.regex(LINE, 'must have no control characters'))

export const AddressBody = v.pipe(
  v.object({
    line1: v.pipe(
      textUpTo(200),
      v.regex(FIRST_LINE, 'must not be blank, and must have no control characters'),
    ),
    line2: v.optional(Line(200)),
    city: v.optional(Line(100)),
    state: v.optional(Line(100)),
    postal_code: v.optional(Line(20)),
    country: v.pipe(v.string(), v.regex(/^[A-Z]{2}$/), v.description('ISO 3166-1 alpha-2')),
  }),
  v.description('The whole address: lines that are left out are emptied'),
)
export type AddressBody = v.InferOutput<typeof AddressBody>

export const PromoBody = v.object({
  code: v.pipe(
    textUpTo(200),
    v.minLength(1),
    v.description('A promotion code; upper and lower case are the same'),
  ),
})
export type PromoBody = v.InferOutput<typeof PromoBody>

export const TaxIdBody = v.object({
  type: v.pipe(
    textUpTo(32),
    v.regex(/^[a-z]{2}(_[a-z]+){1,2}$/),
    v.description('As Stripe names it, such as eu_vat'),
  ),
  value: v.pipe(textUpTo(64), v.regex(/^(?=.*\S)[ -~]*$/)),
})
export type TaxIdBody = v.InferOutput<typeof TaxIdBody>

export const PaymentMethodBody = v.object({
  paymentMethodId: v.pipe(
    textUpTo(255),
    v.regex(/^pm_\w+$/),
    v.description('Of the form of the payment processor'),
  ),
})
export type PaymentMethodBody = v.InferOutput<typeof PaymentMethodBody>
