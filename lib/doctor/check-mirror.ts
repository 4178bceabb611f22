import { commandText } from '../parts/clone-or-package.ts'
import { type Finding, ok, warning, wrong } from './finding.ts'

/** A difference between the database and Stripe. */
interface Mismatch {
  readonly kind: string
  readonly user: string | null
  readonly customer: string | null
  readonly detail: string
  readonly repair: string | null
}

/** The kinds that wrong settings cause. Users keep their plans, but cannot buy or change anything. */
const WRONG: readonly string[] = ['wrong-account', 'missing-customer', 'unknown-price']

/** Reports each kind of mismatch once, with its first case. */
export function checkMirror(mismatches: readonly Mismatch[]): Finding[] {
  const kinds = Map.groupBy(mismatches, ({ kind }) => kind)
  const findings = [...kinds].flatMap(([kind, [first, ...others]]) => {
    if (first === undefined) return []
    const subject = [first.user && `user ${first.user}`, first.customer].filter(Boolean).join(', ')
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`
    const text = `${kind}: ${subject && `${subject}: `}${first.detail}${more}`
    return [WRONG.includes(kind) ? wrong(text, adviceFor(first)) : warning(text, adviceFor(first))]
  })
  return findings.length > 0 ? findings : [ok('The database agrees with Stripe')]
}

/** Says what an operator can do about a mismatch. */
export function adviceFor({ kind, repair }: Pick<Mismatch, 'kind' | 'repair'>): string {
  if (repair !== null) return commandText('billing', '--repair')
  if (kind === 'wrong-account' || kind === 'missing-customer') {
    return `check STRIPE_SECRET_KEY; after an intended move: ${commandText('billing', '--repair --accept-account')}`
  }
  if (kind === 'unknown-price') return 'add it to STRIPE_PRICE_… of its plan, or restore the plan'
  return `${commandText('billing')} lists all; see docs/billing.md`
}
