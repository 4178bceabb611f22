import { decimalPlaces } from '../config/money.ts'
import { HOUR_MS } from '../parts/durations.ts'
import { counted, hours } from './check-age.ts'
import type { BillingCounts } from './count-billing.ts'
import { type Finding, ok, warning, wrong } from './finding.ts'

/** The Stripe objects that a server reads. */
const READ = ['customers', 'subscriptions', 'invoices'] as const

/** What the configured key can read of the Stripe account. */
export interface Account {
  tryToRead(what: (typeof READ)[number]): Promise<'may' | StripeProblem>
  readPrice(id: string): Promise<StripePrice | StripeProblem>
  readMeter(id: string): Promise<StripeMeter | StripeProblem>
}

/** Why a read from Stripe failed. */
export interface StripeProblem {
  readonly reason: 'unreachable' | 'key refused' | 'not allowed' | 'missing' | 'other'
  /** Without any part of the key. For 'not allowed' the missing permission, if Stripe names it. */
  readonly detail: string
}

export interface StripePrice {
  readonly isActive: boolean
  /** ISO 4217, in lower case. */
  readonly currency: string
  /** All in which it is sold. */
  readonly currencies: readonly string[]
  /** In the smallest unit of the currency; null if it is a fraction of that unit. */
  readonly amount: number | null
  /** Such as `1 month`; null for a price that is paid once. */
  readonly period: string | null
  readonly isMetered: boolean
  /** The meter whose events a metered price counts. */
  readonly meter: string | null
}

export interface StripeMeter {
  readonly isActive: boolean
  readonly eventName: string
  /** Such as `sum`. */
  readonly formula: string
  /** The fields of an event that hold the customer and the number. */
  readonly fields: { readonly customer: string; readonly value: string }
}

export interface BillingSettings {
  /** All plans that are not free. `amount` is the price per month that users see. */
  readonly plans: readonly {
    readonly id: string
    readonly amount: number
    /** undefined if the plan is not for sale. */
    readonly priceId: string | undefined
    /** The currency of `amount`; undefined if the plan names none. */
    readonly currency?: string | undefined
    /** The price of a year, which is optional. */
    readonly yearlyPriceId?: string | undefined
  }[]
  readonly overagePrice: string | undefined
  /** The name of the events that a server sends. */
  readonly overageEvent: string
  readonly webhookSecrets: readonly string[]
}

type PaidPlan = BillingSettings['plans'][number]

const DASHBOARD = 'change it in the Stripe dashboard: see docs/billing.md, What to set up'

/** Checks that Stripe accepts the key, and that its prices match the settings. */
export async function checkAccount(
  account: Account,
  settings: BillingSettings,
): Promise<Finding[]> {
  const findings = checkSecrets(settings)
  for (const what of READ) {
    const outcome = await account.tryToRead(what)
    if (outcome === 'may') continue
    const finding = toFinding(outcome, `read ${what}`)
    // All other reads would fail for the same reason.
    if (outcome.reason !== 'not allowed') return [finding, ...findings]
    findings.unshift(finding)
  }
  if (findings.length === 0) findings.push(ok('Stripe accepts the key, and events can be verified'))
  const currencies = new Set<string>()
  for (const plan of settings.plans) {
    const finding = await checkPlan(account, plan, currencies)
    findings.push(finding, ...(await checkYear(account, plan)))
  }
  const { overagePrice } = settings
  if (overagePrice === undefined) return findings
  return [...findings, await checkOverages(account, { ...settings, overagePrice }, currencies)]
}

function checkSecrets({ webhookSecrets }: BillingSettings): Finding[] {
  const advice = 'set it to the signing secret of the webhook, which begins with whsec_'
  if (webhookSecrets.length === 0) {
    return [wrong('STRIPE_WEBHOOK_SECRET is not set: every event is refused', advice)]
  }
  if (webhookSecrets.every((secret) => secret.startsWith('whsec_'))) return []
  return [wrong('STRIPE_WEBHOOK_SECRET contains something that is not a signing secret', advice)]
}

/** Adds the currencies of the plan's price to `currencies`. */
async function checkPlan(
  account: Account,
  plan: PaidPlan,
  currencies: Set<string>,
): Promise<Finding> {
  const { id, priceId } = plan
  const variable = `STRIPE_PRICE_${id.toUpperCase().replaceAll('-', '_')}`
  if (priceId === undefined) return warning(`The plan ${id} is not for sale`, `set ${variable}`)
  const price = await account.readPrice(priceId)
  if ('reason' in price) return toPriceFinding(price, variable, priceId)
  for (const currency of price.currencies) currencies.add(currency)
  const fault = faultOf(price, 'licensed') ?? amountFault(price, plan)
  if (fault === undefined) return ok(`The plan ${id} is sold for ${formatPrice(price)} a month`)
  return wrong(
    `The price of the plan ${id} ${fault}`,
    `set ${variable} to another price, or ${DASHBOARD}`,
  )
}

async function checkYear(account: Account, plan: PaidPlan): Promise<Finding[]> {
  const { id, yearlyPriceId } = plan
  if (yearlyPriceId === undefined) return []
  const variable = `STRIPE_PRICE_${id.toUpperCase().replaceAll('-', '_')}_YEARLY`
  const price = await account.readPrice(yearlyPriceId)
  if ('reason' in price) return [toPriceFinding(price, variable, yearlyPriceId)]
  const fault = faultOf(price, 'licensed', '1 year')
  if (fault === undefined) return [ok(`The plan ${id} is sold for ${formatPrice(price)} a year`)]
  const text = `The price of a year of the plan ${id} ${fault}`
  return [wrong(text, `set ${variable} to another price, or ${DASHBOARD}`)]
}

interface OverageSettings extends Pick<BillingSettings, 'overageEvent'> {
  readonly overagePrice: string
}

/** Checks that the price counts the events of a server, and goes into the invoices of the plans. */
async function checkOverages(
  account: Account,
  { overagePrice, overageEvent }: OverageSettings,
  currencies: ReadonlySet<string>,
): Promise<Finding> {
  const variable = 'STRIPE_PRICE_OVERAGE'
  const price = await account.readPrice(overagePrice)
  if ('reason' in price) return toPriceFinding(price, variable, overagePrice)
  const fault = faultOf(price, 'metered') ?? currencyFault(price, currencies)
  if (fault !== undefined) {
    return wrong(`The price of requests over the cap ${fault}`, `set ${variable} to another price`)
  }
  const meter = await account.readMeter(price.meter ?? '')
  if ('reason' in meter) {
    const text = `The meter of ${variable} is not checked: ${meter.reason}`
    return warning(text, permissionAdvice(meter))
  }
  const wrongMeter = meterFault(meter, overageEvent)
  if (wrongMeter === undefined) return ok('Requests over the cap are counted and sold by a meter')
  return wrong(`The meter of requests over the cap ${wrongMeter}`, METER_ADVICE)
}

const METER_ADVICE =
  'make a meter as docs/overages.md says, and set STRIPE_PRICE_OVERAGE to its price'

function currencyFault(price: StripePrice, currencies: ReadonlySet<string>): string | undefined {
  const other = [...currencies].find((one) => !price.currencies.includes(one))
  if (other === undefined) return undefined
  return `is in ${price.currencies[0]?.toUpperCase()}, but plans are sold in ${other.toUpperCase()}`
}

function meterFault(
  { isActive, eventName, formula, fields }: StripeMeter,
  wanted: string,
): string | undefined {
  if (!isActive) return 'is inactive'
  if (eventName !== wanted) return `counts the events ${eventName}, not ${wanted}`
  if (formula !== 'sum') return `counts by ${formula}, not by sum`
  const { customer, value } = fields
  if (customer === 'stripe_customer_id' && value === 'value') return undefined
  return `reads ${customer} and ${value}, not stripe_customer_id and value`
}

function faultOf(
  { isActive, period, isMetered }: StripePrice,
  usage: 'licensed' | 'metered',
  wanted: '1 month' | '1 year' = '1 month',
): string | undefined {
  if (!isActive) return 'is archived'
  if (period === null) return 'is paid once, not by the month'
  if (period !== wanted) return `is for ${period}, not for ${wanted}`
  if (isMetered !== (usage === 'metered')) return `is not ${usage}`
  return undefined
}

function amountFault(price: StripePrice, { amount, currency }: PaidPlan): string | undefined {
  if (currency !== undefined && currency !== price.currency) {
    return `is in ${price.currency.toUpperCase()}, but the plan names ${currency.toUpperCase()}`
  }
  if (price.amount === null) return 'has no fixed amount in whole cents'
  // 19.99 * 100 is a little less than 1999.
  if (price.amount === Math.round(amount * 10 ** decimalPlaces(price.currency))) return undefined
  return `is ${formatPrice(price)}, but users are shown ${amount}`
}

function formatPrice(price: StripePrice): string {
  const amount = (price.amount ?? 0) / 10 ** decimalPlaces(price.currency)
  return `${amount} ${price.currency.toUpperCase()}`
}

function toPriceFinding(problem: StripeProblem, variable: string, id: string): Finding {
  if (problem.reason === 'missing') {
    const text = `${variable}: this account has no price ${id}`
    return wrong(text, 'use a key and prices of the same mode: test mode or live mode')
  }
  if (problem.reason !== 'not allowed') return toFinding(problem, 'read prices')
  // Only a warning: a server reads a price only to ask whether an old overage report has arrived.
  const text = `${variable} is not checked: the key may not read prices`
  return warning(text, permissionAdvice(problem))
}

function toFinding({ reason, detail }: StripeProblem, action: string): Finding {
  switch (reason) {
    case 'unreachable':
      return wrong(`Stripe does not answer: ${detail}`, 'check the network')
    case 'key refused':
      return wrong('Stripe refuses the key', 'check STRIPE_SECRET_KEY')
    case 'not allowed':
      return wrong(`The key may not ${action}`, permissionAdvice({ reason, detail }))
    case 'missing':
    case 'other':
      return wrong(`Cannot ${action} from Stripe: ${detail}`, 'see status.stripe.com, or try again')
  }
}

export function permissionAdvice({ detail }: StripeProblem): string {
  const permission = detail === '' ? 'the permission' : `the permission ${detail}`
  return `give the restricted key ${permission}; ${DASHBOARD}`
}

/** Checks that events come in, and that overage reports arrive. */
export function checkBillingState(state: BillingCounts, now: number): Finding[] {
  return [checkEvents(state, now), ...checkReports(state, now)]
}

function checkEvents({ subscriptions, lastEventAt }: BillingCounts, now: number): Finding {
  if (lastEventAt !== null) return ok(`The last event came ${hours(now - lastEventAt)} ago`)
  if (subscriptions === 0) return ok('No event has come, and nobody has subscribed')
  return warning(
    `No event from Stripe is known, despite ${counted(subscriptions, 'subscription')}`,
    'check in the Stripe dashboard that events reach /v1/billing/webhook of this service',
  )
}

function checkReports({ unsent, refused, unsentSince }: BillingCounts, now: number): Finding[] {
  if (refused > 0) {
    return [wrong(`Stripe refuses ${counted(refused, 'overage report')}`, 'see docs/overages.md')]
  }
  if (unsentSince === null) return []
  const text = `${counted(unsent, 'overage report')} waiting, the oldest for ${hours(now - unsentSince)}`
  if (now - unsentSince < HOUR_MS) return [ok(text)]
  return [warning(text, 'check that the server runs, and what its log says about Stripe')]
}
