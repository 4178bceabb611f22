import type { StripeConfig } from '../config/config.ts'
import { permissionAdvice, type StripeProblem } from './check-billing.ts'
import { type Finding, ok, warning, wrong } from './finding.ts'

/** What the configured key can read of the account's settings for Stripe Tax. */
export interface TaxAccount {
  readTax(): Promise<StripeTax | StripeProblem>
}

export interface StripeTax {
  /** `active` if Stripe Tax can calculate tax. */
  readonly status: string
  /** Settings that the operator must fill in first, such as `head_office`. */
  readonly missing: readonly string[]
}

/** Checks that Stripe Tax is set up if `STRIPE_TAX` wants it. */
export async function checkTax(
  account: TaxAccount,
  wanted: StripeConfig['tax'],
): Promise<Finding[]> {
  const tax = await account.readTax()
  if ('reason' in tax) return wanted === 'automatic' ? toFindings(tax) : []
  const isActive = tax.status === 'active'
  if (wanted === 'off') {
    const setUp = isActive ? 'although Stripe Tax is set up' : 'and Stripe Tax is not set up'
    return [ok(`New subscriptions are sold without tax, ${setUp}`)]
  }
  if (isActive) return [ok('Stripe Tax adds tax to new subscriptions')]
  return [
    wrong(
      `Stripe Tax is not set up (missing: ${tax.missing.join(', ') || 'unknown'}): nobody can buy`,
      'complete it in the Stripe dashboard under Tax, or set STRIPE_TAX=off',
    ),
  ]
}

/** The check of the account already reports that Stripe cannot be read at all. */
function toFindings(problem: StripeProblem): Finding[] {
  if (problem.reason === 'unreachable' || problem.reason === 'key refused') return []
  const advice =
    problem.reason === 'not allowed' ? permissionAdvice(problem) : 'see status.stripe.com'
  return [warning('Stripe Tax is not checked: its settings cannot be read', advice)]
}
