import { commandText } from '../parts/clone-or-package.ts'
import { type Finding, ok, warning, wrong } from './finding.ts'

/** A difference between the database and Stripe. */
interface Mismatch {
  readonly kind: string
  readonly user: string | null
  readonly customer: string | null
  readonly detail: string
}

/** The kinds that wrong settings cause. Users keep their plans, but cannot buy or change anything. */
const WRONG: readonly string[] = ['wrong-account', 'missing-customer', 'unknown-price']

const ACCOUNT = `check STRIPE_SECRET_KEY; after an intended move: ${commandText('billing', '--repair --accept-account')}`
const REPAIR = `${commandText('billing', '--repair')}, or wait: the server repairs it every hour`
const ADVICE: Readonly<Record<string, string>> = {
  'wrong-account': ACCOUNT,
  'missing-customer': ACCOUNT,
  'unknown-price': 'add it to STRIPE_PRICE_… of its plan, or restore the plan',
  'other-customer': 'at Stripe, delete the customer that pays nothing',
  'unknown-user': 'at Stripe, cancel the subscription if its account was deleted here',
  duplicate: 'at Stripe, cancel one, and limit customers to one subscription: see docs/billing.md',
  usage: 'charge or credit the difference at Stripe: see docs/overages.md',
  'unassigned-customer': REPAIR,
  outdated: REPAIR,
}

/** Reports each kind of mismatch once, with its first case. */
export function checkMirror(mismatches: readonly Mismatch[]): Finding[] {
  const kinds = Map.groupBy(mismatches, ({ kind }) => kind)
  const findings = [...kinds].flatMap(([kind, [first, ...others]]) => {
    if (first === undefined) return []
    const subject = [first.user && `user ${first.user}`, first.customer].filter(Boolean).join(', ')
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`
    const text = `${kind}: ${subject && `${subject}: `}${first.detail}${more}`
    return [(WRONG.includes(kind) ? wrong : warning)(text, adviceFor(kind))]
  })
  return findings.length > 0 ? findings : [ok('The database agrees with Stripe')]
}

/** Says what an operator can do about a kind of mismatch. */
export function adviceFor(kind: string): string {
  return ADVICE[kind] ?? `${commandText('billing')} lists all; see docs/billing.md`
}
