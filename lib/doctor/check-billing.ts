import type { StandingPrice, Untold } from '../standing-price.ts'
import { type Finding, ok, warning, wrong } from './finding.ts'

/** What the key is tried on. */
const READ = ['customers', 'subscriptions', 'invoices'] as const

export interface Account {
  tryToRead(what: (typeof READ)[number]): Promise<'may' | Untold>
  readPrice(id: string): Promise<StandingPrice | Untold>
}

export interface BillingSettings {
  /** The plans that cost something. */
  readonly plans: readonly PaidPlan[]
  readonly overagePrice: string | undefined
  readonly webhookSecrets: readonly string[]
}

export interface PaidPlan {
  readonly id: string
  /** As it is shown to users, per month. */
  readonly amount: number
  /** undefined: it is not for sale. */
  readonly priceId: string | undefined
}

const DASHBOARD = 'see to it in the dashboard of Stripe: docs/billing.md, What to set up'

/** Whether the payment processor takes the key, and sells what the settings say. */
export async function checkAccount(
  account: Account,
  settings: BillingSettings,
): Promise<Finding[]> {
  const findings = checkSecrets(settings)
  for (const what of READ) {
    const told = await account.tryToRead(what)
    if (told === 'may') continue
    const finding = untold(told, `read ${what}`)
    // Nothing else would be told either.
    if (told.reason !== 'not allowed') return [finding, ...findings]
    findings.unshift(finding)
  }
  if (findings.length === 0) findings.push(ok('Stripe takes the key, and events can be checked'))
  for (const plan of settings.plans) findings.push(await checkPlan(account, plan))
  if (settings.overagePrice !== undefined) {
    findings.push(await checkOveragePrice(account, settings.overagePrice))
  }
  return findings
}

function checkSecrets({ webhookSecrets }: BillingSettings): Finding[] {
  const advice = 'set it to the signing secret of the webhook, which begins with whsec_'
  if (webhookSecrets.length === 0) {
    return [wrong('STRIPE_WEBHOOK_SECRET is not set: no event is taken', advice)]
  }
  if (webhookSecrets.every((secret) => secret.startsWith('whsec_'))) return []
  return [wrong('STRIPE_WEBHOOK_SECRET holds something that is no signing secret', advice)]
}

async function checkPlan(account: Account, plan: PaidPlan): Promise<Finding> {
  const { id, priceId } = plan
  const variable = `STRIPE_PRICE_${id.toUpperCase().replaceAll('-', '_')}`
  if (priceId === undefined) return warning(`The plan ${id} is not for sale`, `set ${variable}`)
  const price = await account.readPrice(priceId)
  if ('reason' in price) return untoldPrice(price, variable, priceId)
  const fault = faultOf(price, 'licensed') ?? amountFault(price, plan)
  if (fault === undefined) return ok(`The plan ${id} is sold for ${shown(price)} a month`)
  return wrong(
    `The price of the plan ${id} ${fault}`,
    `give ${variable} another price, or ${DASHBOARD}`,
  )
}

async function checkOveragePrice(account: Account, id: string): Promise<Finding> {
  const variable = 'STRIPE_PRICE_OVERAGE'
  const price = await account.readPrice(id)
  if ('reason' in price) return untoldPrice(price, variable, id)
  const fault = faultOf(price, 'metered')
  if (fault === undefined) return ok('Requests over the cap are sold by a meter')
  return wrong(`The price of requests over the cap ${fault}`, `give ${variable} another price`)
}

function faultOf(
  { isActive, period, isMetered }: StandingPrice,
  usage: 'licensed' | 'metered',
): string | undefined {
  if (!isActive) return 'is archived'
  if (period === null) return 'is paid once, not by the month'
  if (period !== '1 month') return `is for ${period}, not for 1 month`
  if (isMetered !== (usage === 'metered')) return `is not ${usage}`
  return undefined
}

function amountFault(price: StandingPrice, { amount }: PaidPlan): string | undefined {
  if (price.amount === amount * 10 ** digitsOf(price)) return undefined
  return `is ${shown(price)}, but users are shown ${amount}`
}

function shown(price: StandingPrice): string {
  const amount = (price.amount ?? 0) / 10 ** digitsOf(price)
  return `${amount} ${price.currency.toUpperCase()}`
}

/** How many digits the currency has behind the point. */
function digitsOf({ currency }: StandingPrice): number {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  return format.resolvedOptions().maximumFractionDigits ?? 2
}

function untoldPrice(why: Untold, variable: string, id: string): Finding {
  if (why.reason === 'missing') {
    const text = `${variable}: there is no price ${id} in this account`
    return wrong(text, 'a key of test mode sees prices of test mode alone, and the other way round')
  }
  // A server does not read prices.
  if (why.reason !== 'not allowed') return untold(why, 'read prices')
  return warning(`${variable} is not checked: the key may not read prices`, permissionAdvice(why))
}

function untold({ reason, detail }: Untold, action: string): Finding {
  switch (reason) {
    case 'unreachable':
      return wrong(`Stripe does not answer: ${detail}`, 'see to the network')
    case 'key refused':
      return wrong('Stripe refuses the key', 'see to STRIPE_SECRET_KEY')
    case 'not allowed':
      return wrong(`The key may not ${action}`, permissionAdvice({ reason, detail }))
    case 'missing':
    case 'other':
      return wrong(`Stripe does not ${action}: ${detail}`, 'see status.stripe.com, or try again')
  }
}

function permissionAdvice({ detail }: Untold): string {
  const permission = detail === '' ? 'the permission' : `the permission ${detail}`
  return `give the restricted key ${permission}; ${DASHBOARD}`
}
