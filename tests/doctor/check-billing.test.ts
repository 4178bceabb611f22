import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openDbToRead } from '../../lib/db/open.ts'
import { checkAccount, checkBillingState } from '../../lib/doctor/check-billing.ts'
import { countBilling } from '../../lib/doctor/count-billing.ts'
import { HOUR_MS } from '../../lib/parts/durations.ts'
import { newSecretKey, newSigningSecret } from '../../stripe-double/ids.ts'
import { makeDataFolder, withClient } from '../support/data-folder.ts'
import { NOON } from '../support/helpers.ts'
import { newDataFolder, runScript } from '../support/process.ts'
import { shared } from '../support/scene/freshly.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { allLines } from './findings.ts'
import { openAccount } from './stripe-account.ts'

const at = shared(openAccount)

/** Returns the finding for a plan that costs `amount` and is sold at this price. */
async function checkPrice(priceId: string, amount = 29): Promise<string> {
  const plan = { id: 'big-shop', amount, priceId }
  const [, found = '', ...more] = await at.check({ plans: [plan], overagePrice: undefined })
  assert.deepEqual(more, [])
  return found
}

describe('the check of the Stripe account', () => {
  it('finds no fault in the account of the double', async () => {
    assert.deepEqual(await at.check(), [
      'ok: Stripe accepts the key, and events can be verified',
      'ok: The plan starter is sold for 9 USD a month',
      'ok: The plan pro is sold for 29 USD a month',
      'ok: Requests over the cap are counted and sold by a meter',
    ])
  })

  it('changes nothing at Stripe', async () => {
    const before = at.double.calls().length
    await at.check()
    const calls = at.double.calls().slice(before)
    const methods = new Set(calls.map(({ method }) => method))
    assert.deepEqual([...methods], ['GET'])
  })

  it('reports that Stripe does not answer, and reads nothing else', async () => {
    const [found = '', ...more] = await at.check({}, { apiBase: 'http://127.0.0.1:1' })
    assert.match(found, /^wrong: Stripe does not answer: .* → check the network$/)
    assert.deepEqual(more, [])
  })

  it('reports a key that Stripe refuses, without showing it', async () => {
    const key = ['sk', 'live', 'x'.repeat(24)].join('_')
    assert.deepEqual(await at.check({}, { key }), [
      'wrong: Stripe refuses the key → check STRIPE_SECRET_KEY',
    ])
  })

  it('reports an error of Stripe', async () => {
    at.double.failCalls({ kind: '500' })
    const [found = ''] = await at.check()
    assert.match(found, /^wrong: Cannot read customers from Stripe: StripeAPIError, status 500 → /)
  })

  it('names the permission that a restricted key lacks', async () => {
    at.double.failCalls({ kind: '403' })
    const [found = '', ...others] = await at.check()
    assert.match(found, /^wrong: The key may not read customers → give .* rak_customer_read; /)
    assert.equal(others.length, 3)
  })

  it('only warns if the key may not read prices', async () => {
    const problem = { reason: 'not allowed', detail: 'rak_plan_read' } as const
    const account = {
      tryToRead: async () => 'may' as const,
      readPrice: async () => problem,
      readMeter: async () => problem,
    }
    const settings = at.settings({ plans: [at.pro] })
    const [, pro = '', overage = ''] = allLines(await checkAccount(account, settings))
    assert.match(pro, /^warning: STRIPE_PRICE_PRO is not checked: .* → give .* rak_plan_read/)
    assert.match(overage, /^warning: STRIPE_PRICE_OVERAGE is not checked/)
  })

  it('reports missing and invalid signing secrets, without showing them', async () => {
    const [missing = ''] = await at.check({ webhookSecrets: [] })
    assert.match(missing, /^wrong: STRIPE_WEBHOOK_SECRET is not set: .* → set it to the signing/)
    const [none = ''] = await at.check({ webhookSecrets: [newSigningSecret(), newSecretKey()] })
    const other = 'STRIPE_WEBHOOK_SECRET contains something that is not a signing secret'
    assert.ok(none.startsWith(`wrong: ${other} → `), none)
  })
})

describe('the check of a price', () => {
  it('finds a price of a year that is for a month, and one in another currency', async () => {
    const yearly = { recurring: { interval: 'year' }, unit_amount: 29_000 } as const
    const checkYear = async (yearlyPriceId: string) =>
      (await at.check({ plans: [{ ...at.pro, yearlyPriceId }] }))[2] ?? ''
    const year = await checkYear(await at.addPrice(yearly))
    assert.equal(year, 'ok: The plan pro is sold for 290 USD a year')
    const month = await checkYear(at.pro.priceId)
    assert.match(
      month,
      /^wrong: The price of a year of the plan pro is for 1 month, not for 1 year/,
    )
    assert.match(month, /→ set STRIPE_PRICE_PRO_YEARLY /)
    const [, euro = ''] = await at.check({ plans: [{ ...at.pro, currency: 'eur' }] })
    assert.match(euro, /^wrong: The price of the plan pro is in USD, but the plan names EUR/)
  })

  it('reports a missing price, and one of another account', async () => {
    const plan = { id: 'big-shop', amount: 29, priceId: undefined }
    const found = await at.check({ plans: [plan] })
    assert.equal(found[1], 'warning: The plan big-shop is not for sale → set STRIPE_PRICE_BIG_SHOP')
    const missing = 'wrong: STRIPE_PRICE_BIG_SHOP: this account has no price price_none → use a key'
    assert.match(await checkPrice('price_none'), new RegExp(`^${missing} and`))
  })

  it('reports an archived price', async () => {
    const price = await at.addPrice({})
    assert.match(await checkPrice(price), /^ok/)
    await at.stripe.prices.update(price, { active: false })
    assert.match(await checkPrice(price), /^wrong: The price of the plan big-shop is archived → /)
  })

  it('reports a price that is not monthly', async () => {
    const { id: once } = await at.stripe.prices.create({
      currency: 'usd',
      unit_amount: 2_900,
      product_data: { name: 'Big shop' },
    })
    assert.match(await checkPrice(once), /^wrong: .* is paid once, not by the month → /)
    const yearly = await at.addPrice({ recurring: { interval: 'year' } })
    assert.match(await checkPrice(yearly), /^wrong: .* is for 1 year, not for 1 month → /)
    const rare = await at.addPrice({ recurring: { interval: 'month', interval_count: 3 } })
    assert.match(await checkPrice(rare), /^wrong: .* is for 3 months, not for 1 month → /)
  })

  it('reports a metered price instead of a licensed one, and the reverse', async () => {
    assert.match(await checkPrice(at.overage), /^wrong: .* is not licensed → /)
    const found = await at.check({ plans: [], overagePrice: at.pro.priceId })
    assert.match(found[1] ?? '', /^wrong: The price of requests over the cap is not metered → /)
  })

  it('reports an amount that differs from what users see, in any currency', async () => {
    const dear = await at.addPrice({ unit_amount: 3_000 })
    assert.match(await checkPrice(dear), /^wrong: .* is 30 USD, but users are shown 29 → /)
    const odd = await at.addPrice({ unit_amount: 1_999 })
    assert.match(await checkPrice(odd, 19.99), /^ok: .* is sold for 19\.99 USD a month$/)
    const account = {
      tryToRead: async () => 'may' as const,
      readPrice: async () => tiered,
      readMeter: async () => assert.fail(),
    }
    const amount = { amount: null, currency: 'usd', currencies: ['usd'] }
    const tiered = { isActive: true, period: '1 month', isMetered: false, meter: null, ...amount }
    const found = allLines(await checkAccount(account, at.settings({ plans: [at.pro] })))
    assert.match(found[1] ?? '', /^wrong: .* has no fixed amount in whole cents → /)
    const yen = await at.addPrice({ currency: 'jpy', unit_amount: 29 })
    assert.equal(await checkPrice(yen), 'ok: The plan big-shop is sold for 29 JPY a month')
    // Stripe counts hundredths of a króna, although the currency has none.
    const krona = await at.addPrice({ currency: 'isk', unit_amount: 2_900 })
    assert.equal(await checkPrice(krona), 'ok: The plan big-shop is sold for 29 ISK a month')
  })
})

describe('the check of events and reports', () => {
  const idle = { subscriptions: 0, lastEventAt: null, unsent: 0, refused: 0, unsentSince: null }
  const checkState = (changed: Partial<Parameters<typeof checkBillingState>[0]>) =>
    allLines(checkBillingState({ ...idle, ...changed }, NOON))

  it('reports when the last event came', () => {
    const known = checkState({ lastEventAt: NOON - 3 * HOUR_MS })
    assert.deepEqual(known, ['ok: The last event came 3 hours ago'])
    assert.deepEqual(checkState({}), ['ok: No event has come, and nobody has subscribed'])
    const [silent = ''] = checkState({ subscriptions: 2 })
    assert.match(silent, /^warning: No event from Stripe is known, despite 2 subscriptions → /)
  })

  it('reports overage reports that wait too long or are refused', () => {
    const since = (unsentSince: number) => checkState({ unsent: 2, unsentSince }).slice(1).join()
    assert.match(since(NOON - HOUR_MS + 1), /^ok: 2 overage reports waiting, .* for 0 hours$/)
    const late = since(NOON - 5 * HOUR_MS)
    assert.match(late, /^warning: 2 overage reports .* for 5 hours → check that the/)
    const refused = checkState({ unsent: 2, refused: 1, unsentSince: NOON })
    assert.match(refused[1] ?? '', /^wrong: Stripe refuses 1 overage report → see docs/)
  })

  it('counts events and reports in the database', async () => {
    const { database } = await makeDataFolder(tempFolder())
    const db = openDbToRead(database)
    assert.deepEqual(await countBilling(db), idle)
    withClient(database, (client) => {
      client.exec(`INSERT INTO processor_events VALUES ('evt_1', 'invoice.paid', ${NOON})`)
      client.exec(`INSERT INTO overage_reports VALUES
        ('a', 'u', 'c', 's', 1, 2, 0, 5, 7, NULL, NULL, 8),
        ('b', 'u', 'c', 's', 2, 3, 0, 5, 6, NULL, NULL, NULL),
        ('c', 'u', 'c', 's', 3, 4, 0, 5, 4, 5, 5, NULL)`)
    })
    const counted = { lastEventAt: NOON, unsent: 2, refused: 1, unsentSince: 6 }
    assert.deepEqual(await countBilling(db), { ...idle, ...counted })
    db.$client.close()
  })
})

describe('npm run doctor', () => {
  it('checks billing if there is a Stripe key', async (t) => {
    const { settings: folder, remove } = newDataFolder()
    t.after(remove)
    const key = newSecretKey()
    const { stdout } = await runScript(['scripts/doctor.ts'], {
      ...folder,
      STRIPE_SECRET_KEY: key,
      STRIPE_WEBHOOK_SECRET: newSigningSecret(),
      STRIPE_API_BASE: at.double.url,
      STRIPE_PRICE_STARTER: at.starter,
      STRIPE_PRICE_PRO: at.starter,
    })
    assert.match(stdout, /^ok {7}Billing {5}Stripe accepts the key, and events can be verified$/m)
    assert.match(stdout, /^ok {7}Billing {5}The plan starter is sold for 9 USD a month$/m)
    assert.match(stdout, /^wrong {4}Billing {5}The price of the plan pro is 9 USD, but users are/m)
    assert.equal(stdout.includes(key), false)
  })
})
