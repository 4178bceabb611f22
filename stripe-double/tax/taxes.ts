import type Stripe from 'stripe'
import { getRow, type World } from '../world.ts'
import { findTaxRule, requireTaxLocation, type TaxRule } from './tax-rule.ts'
import { requireTaxActive } from './tax-settings.ts'

type Line = Stripe.InvoiceLineItem
type LineTax = Stripe.InvoiceLineItem.Tax

/** The parameter `automatic_tax`, as far as the double supports it. */
export interface AutomaticTaxParam {
  readonly enabled: boolean
}

/** The field of a subscription. Throws Stripe's 400 if tax cannot be calculated. */
export function toAutomaticTax(
  world: World,
  param: AutomaticTaxParam | undefined,
  customer: string,
): Stripe.Subscription.AutomaticTax {
  const enabled = param?.enabled ?? false
  if (enabled) {
    requireTaxActive(world)
    requireTaxLocation(world, customer)
  }
  return { disabled_reason: null, enabled, liability: null }
}

/** Adds the tax on the net amount of each line. */
export function withTaxes(
  world: World,
  lines: readonly Line[],
  { automatic_tax, customer }: Stripe.Subscription,
  netOf: (line: Line) => number,
): Line[] {
  const rule = automatic_tax.enabled ? findTaxRule(world, String(customer)) : null
  if (rule === null) return lines.map((line) => ({ ...line, taxes: [] }))
  return lines.map((line) => ({ ...line, taxes: [taxOn(world, line, { rule, net: netOf(line) })] }))
}

function taxOn(world: World, line: Line, { rule, net }: { rule: TaxRule; net: number }): LineTax {
  const behavior = behaviorOf(world, line)
  const share = rule.percent / 100
  const amount = Math.round(behavior === 'exclusive' ? net * share : net - net / (1 + share))
  return {
    amount,
    tax_behavior: behavior,
    tax_rate_details: { tax_rate: 'txr_flat' },
    taxability_reason: rule.reason,
    taxable_amount: behavior === 'exclusive' ? net : net - amount,
    type: 'tax_rate_details',
  }
}

/** Whether the tax comes on top of the price, or is in it. */
function behaviorOf(world: World, { pricing }: Line): 'exclusive' | 'inclusive' {
  const price = getRow(world, 'prices', String(pricing?.price_details?.price))
  return price.tax_behavior === 'inclusive' ? 'inclusive' : 'exclusive'
}

/** The taxes of all lines, and what they add to the total. */
export function sumTaxes(lines: readonly Line[]) {
  const all = lines.flatMap(({ taxes }) => taxes ?? [])
  const groups = Map.groupBy(all, (tax) => `${tax.tax_behavior} ${tax.taxability_reason}`)
  const sums = [...groups.values()].map((taxes) => ({
    ...taxes[0],
    amount: sum(taxes.map(({ amount }) => amount)),
    taxable_amount: sum(taxes.map(({ taxable_amount }) => taxable_amount ?? 0)),
  }))
  const onTop = all.filter(({ tax_behavior }) => tax_behavior === 'exclusive')
  return {
    // safe: a group has at least one tax
    total_taxes: sums as Stripe.Invoice.TotalTax[],
    added: sum(onTop.map(({ amount }) => amount)),
    contained: sum(all.map(({ amount }) => amount)) - sum(onTop.map(({ amount }) => amount)),
  }
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0)
}

/**
 * The field of an invoice. An invoice for an unknown place is finalized without tax; a preview asks
 * for the place.
 */
export function invoiceTax(
  world: World,
  { automatic_tax, customer }: Stripe.Subscription,
  use: 'invoice' | 'preview',
): Stripe.Invoice.AutomaticTax {
  const none = { disabled_reason: null, enabled: false, liability: null, provider: null }
  if (!automatic_tax.enabled) return { ...none, status: null }
  const enabled = { ...none, enabled: true, provider: 'stripe' }
  if (findTaxRule(world, String(customer)) !== null) return { ...enabled, status: 'complete' }
  if (use === 'preview') return { ...enabled, status: 'requires_location_inputs' }
  return {
    ...none,
    disabled_reason: 'finalization_requires_location_inputs',
    status: 'requires_location_inputs',
  }
}
