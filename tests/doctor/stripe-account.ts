import { createAccountReader } from '../../lib/billing/stripe/account-reader.ts'
import { readConfig } from '../../lib/config/config.ts'
import { type BillingSettings, checkAccount } from '../../lib/doctor/check-billing.ts'
import { newSecretKey, newSigningSecret } from '../../stripe-double/ids.ts'
import { OVERAGE_EVENT } from '../../stripe-double/plans.ts'
import { startDouble } from '../stripe-double/start.ts'
import { allLines } from './findings.ts'

/** A Stripe double, and the doctor's check of its account. */
export async function openAccount() {
  const at = await startDouble()
  const pro = { id: 'pro', amount: 29, priceId: at.pro }
  const settings = (changed: Partial<BillingSettings> = {}): BillingSettings => ({
    plans: [{ id: 'starter', amount: 9, priceId: at.starter }, pro],
    overagePrice: at.overage,
    overageEvent: OVERAGE_EVENT,
    webhookSecrets: [newSigningSecret()],
    ...changed,
  })
  return {
    ...at,
    pro,
    settings,
    check: async (
      changed?: Partial<BillingSettings>,
      { key = newSecretKey(), apiBase = at.double.url } = {},
    ): Promise<string[]> => {
      const { stripe } = readConfig({ STRIPE_API_BASE: apiBase })
      return allLines(await checkAccount(createAccountReader(key, stripe), settings(changed)))
    },
    /** Adds a monthly price of 29 dollars, with changes. */
    addPrice: async (params: PriceParams): Promise<string> => {
      const recurring = { interval: 'month' } as const
      const product_data = { name: 'Big shop' }
      const usual = { currency: 'usd', unit_amount: 2_900, recurring, product_data }
      return (await at.stripe.prices.create({ ...usual, ...params })).id
    },
  }
}

type Stripe = Awaited<ReturnType<typeof startDouble>>['stripe']

export type PriceParams = Partial<Parameters<Stripe['prices']['create']>[0]>
