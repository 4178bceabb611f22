import type Stripe from 'stripe'
import type { Bench } from '../sandbox.ts'

/** A statement about Stripe on which the product or the double rests. */
export interface Case {
  readonly title: string
  /** Where Stripe says so: a page of docs.stripe.com, or a type of its SDK. */
  readonly source: string
  readonly run: (bench: Bench) => Promise<void>
}

/** The lines of the invoices for the price, such as those of the meter. */
export function linesOf(
  invoices: readonly Stripe.Invoice[],
  price: string,
): Stripe.InvoiceLineItem[] {
  const lines = invoices.flatMap((invoice) => invoice.lines.data)
  return lines.filter(({ pricing }) => pricing?.price_details?.price === price)
}

/** What the lines charge, in cents. */
export function sumOf(lines: readonly { readonly amount: number }[]): number {
  return lines.reduce((sum, { amount }) => sum + amount, 0)
}

/** The amount for the part of `whole` from `at` on. Stripe prorates to the second. */
export function restOf(
  amount: number,
  { start, end }: { readonly start: number; readonly end: number },
  at: number,
): number {
  return Math.round((amount * (end - at)) / (end - start))
}
