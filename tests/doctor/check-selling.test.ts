import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createAccountReader } from '../../lib/billing/stripe/account-reader.ts'
import { readConfig } from '../../lib/config/config.ts'
import { checkAccount } from '../../lib/doctor/check-billing.ts'
import { checkTax } from '../../lib/doctor/check-tax.ts'
import type { StripeDouble } from '../../stripe-double/double.ts'
import { newSecretKey } from '../../stripe-double/ids.ts'
import { OVERAGE_EVENT } from '../../stripe-double/plans.ts'
import { addMeter } from '../../stripe-double/resources/meters.ts'
import { startStripeDouble } from '../../stripe-double/start-double.ts'
import { startDouble } from '../stripe-double/start.ts'
import { shared } from '../support/scene/freshly.ts'
import { allLines } from './findings.ts'
import { openAccount, type PriceParams } from './stripe-account.ts'

const at = shared(openAccount)

describe('the check of the price of requests over the cap', () => {
  async function checkOverages(
    params: PriceParams,
    meter = addMeter(at.double.world, 'other', 'other_event'),
  ) {
    const recurring = { interval: 'month', usage_type: 'metered', meter: meter.id } as const
    const overagePrice = await at.addPrice({ recurring, ...params })
    return (await at.check({ overagePrice })).at(-1) ?? ''
  }
  const ownMeter = () => addMeter(at.double.world, 'own', OVERAGE_EVENT)

  it('finds a meter that counts other events, or is inactive', async () => {
    const events = 'counts the events other_event, not meridian_overage → make a meter'
    assert.match(await checkOverages({}), new RegExp(`^wrong: The meter .* ${events}`))
    const meter = ownMeter()
    at.double.world.state.tables.meters.set(meter.id, { ...meter, status: 'inactive' })
    assert.match(await checkOverages({}, meter), /^wrong: The meter .* is inactive → /)
  })

  it('finds a meter that counts in another way', async () => {
    const { meters } = at.double.world.state.tables
    const meter = ownMeter()
    meters.set(meter.id, { ...meter, default_aggregation: { formula: 'count' } })
    assert.match(await checkOverages({}, meter), /^wrong: .* counts by count, not by sum → /)
    meters.set(meter.id, { ...meter, value_settings: { event_payload_key: 'units' } })
    assert.match(await checkOverages({}, meter), /^wrong: .* reads stripe_customer_id and units, /)
  })

  it('finds another currency, and another interval', async () => {
    const wrong = /^wrong: .* is in EUR, but plans are sold in USD → set STRIPE_PRICE_OVERAGE/
    assert.match(await checkOverages({ currency: 'eur' }, ownMeter()), wrong)
    const meter = ownMeter()
    const recurring = { interval: 'year', usage_type: 'metered', meter: meter.id } as const
    const yearly = await checkOverages({ recurring }, meter)
    assert.match(yearly, /^wrong: .* is for 1 year, not for 1 month/)
    assert.match(await checkOverages({}, ownMeter()), /^ok: Requests over the cap are counted/)
  })

  it('only warns if the key may not read meters', async () => {
    const price = {
      ...{ isActive: true, period: '1 month', isMetered: true, meter: 'mtr_1' },
      ...{ amount: null, currency: 'usd', currencies: ['usd'] },
    }
    const account = {
      tryToRead: async () => 'may' as const,
      readPrice: async () => price,
      readMeter: async () => ({ reason: 'not allowed', detail: 'rak_billing_meter_read' }) as const,
    }
    const found = allLines(await checkAccount(account, at.settings({ plans: [] })))
    assert.match(found.at(-1) ?? '', /^warning: The meter of .* → give .* rak_billing_meter_read/)
  })
})

async function check({ url }: Pick<StripeDouble, 'url'>, tax: 'off' | 'automatic') {
  const { stripe } = readConfig({ STRIPE_API_BASE: url })
  const findings = await checkTax(createAccountReader(newSecretKey(), stripe), tax)
  return findings.map(({ state, text }) => `${state}: ${text}`)
}

describe('the check of Stripe Tax', () => {
  it('says whether tax is added, and whether the account is set up for it', async () => {
    await using at = await startDouble()
    const added = 'ok: Stripe Tax adds tax to new subscriptions'
    assert.deepEqual(await check(at.double, 'automatic'), [added])
    const unused = 'ok: New subscriptions are sold without tax, although Stripe Tax is set up'
    assert.deepEqual(await check(at.double, 'off'), [unused])
  })

  it('reports an account that cannot calculate tax', async () => {
    await using double = await startStripeDouble()
    const missing = 'wrong: Stripe Tax is not set up (missing: head_office): nobody can buy'
    assert.deepEqual(await check(double, 'automatic'), [missing])
    const unused = 'ok: New subscriptions are sold without tax, and Stripe Tax is not set up'
    assert.deepEqual(await check(double, 'off'), [unused])
  })

  it('warns if the key may not read the settings, unless tax is off', async () => {
    await using at = await startDouble()
    at.double.failCalls({ kind: '403' }, 2)
    const unread = 'warning: Stripe Tax is not checked: its settings cannot be read'
    assert.deepEqual(await check(at.double, 'automatic'), [unread])
    assert.deepEqual(await check(at.double, 'off'), [])
  })

  it('leaves it to the check of the account to report that Stripe does not answer', async () => {
    assert.deepEqual(await check({ url: 'http://127.0.0.1:1' }, 'automatic'), [])
  })
})
