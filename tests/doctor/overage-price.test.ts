import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { checkAccount } from '../../lib/doctor/check-billing.ts'
import { OVERAGE_EVENT } from '../../stripe-double/plans.ts'
import { addMeter } from '../../stripe-double/resources/meters.ts'
import { allLines } from './findings.ts'
import { openAccount, type PriceParams } from './stripe-account.ts'

let at: Awaited<ReturnType<typeof openAccount>>
before(async () => {
  at = await openAccount()
})
after(() => at[Symbol.asyncDispose]())

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
    assert.match(
      await checkOverages({}),
      /^wrong: The meter .* counts the events other_event, not meridian_overage → make a meter/,
    )
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
    assert.match(
      await checkOverages({ currency: 'eur' }, ownMeter()),
      /^wrong: .* is in EUR, but plans are sold in USD → set STRIPE_PRICE_OVERAGE/,
    )
    const meter = ownMeter()
    const recurring = { interval: 'year', usage_type: 'metered', meter: meter.id } as const
    assert.match(
      await checkOverages({ recurring }, meter),
      /^wrong: .* is for 1 year, not for 1 month/,
    )
    assert.match(await checkOverages({}, ownMeter()), /^ok: Requests over the cap are counted/)
  })

  it('only warns if the key may not read meters', async () => {
    const price = {
      ...{ isActive: true, period: '1 month', isMetered: true, meter: 'mtr_1' },
      ...{ amount: null, currency: 'usd' },
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
