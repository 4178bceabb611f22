import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createAccountReader } from '../../../lib/billing/account-reader.ts'
import { readConfig } from '../../../lib/config.ts'
import { countBilling } from '../../../lib/db/inspect.ts'
import { type BillingSettings, checkAccount } from '../../../lib/doctor/check-billing.ts'
import { checkBillingState } from '../../../lib/doctor/check-billing-state.ts'
import type { Finding } from '../../../lib/doctor/finding.ts'
import { newSecretKey, newSigningSecret } from '../../../stripe-double/ids.ts'
import { makeDataFolder, withClient } from '../../data-folder.ts'
import { newDataFolder, runScript } from '../../e2e/process.ts'
import { NOON } from '../../helpers.ts'
import { startDouble } from '../../stripe-double/start.ts'
import { tempFolder } from '../../temp-folder.ts'

const HOUR_MS = 3_600_000

let at: Awaited<ReturnType<typeof startDouble>>
before(async () => {
  at = await startDouble()
})
after(() => at[Symbol.asyncDispose]())

/** Each finding as one line, with what to do about it. */
function lines(findings: readonly Finding[]): string[] {
  return findings.map((finding) =>
    finding.state === 'ok'
      ? `ok: ${finding.text}`
      : `${finding.state}: ${finding.text} → ${finding.advice}`,
  )
}

const pro = () => ({ id: 'pro', amount: 29, priceId: at.pro })

const settings = (changed: Partial<BillingSettings> = {}): BillingSettings => ({
  plans: [{ id: 'starter', amount: 9, priceId: at.starter }, pro()],
  overagePrice: at.overage,
  webhookSecrets: [newSigningSecret()],
  ...changed,
})

async function check(
  changed?: Partial<BillingSettings>,
  { key = newSecretKey(), apiBase = at.double.url } = {},
): Promise<string[]> {
  const { stripe } = readConfig({ STRIPE_API_BASE: apiBase })
  return lines(await checkAccount(createAccountReader(key, stripe), settings(changed)))
}

/** What is found of a plan that costs 29, sold at this price. */
async function checkPrice(priceId: string): Promise<string> {
  const plan = { id: 'big-shop', amount: 29, priceId }
  const [, found = '', ...more] = await check({ plans: [plan], overagePrice: undefined })
  assert.deepEqual(more, [])
  return found
}

type PriceParams = Partial<Parameters<typeof at.stripe.prices.create>[0]>

async function addPrice(params: PriceParams): Promise<string> {
  const recurring = { interval: 'month' } as const
  const product_data = { name: 'Big shop' }
  const usual = { currency: 'usd', unit_amount: 2_900, recurring, product_data }
  return (await at.stripe.prices.create({ ...usual, ...params })).id
}

describe('the check of billing', () => {
  it('finds nothing wrong with what the double offers', async () => {
    assert.deepEqual(await check(), [
      'ok: Stripe takes the key, and events can be checked',
      'ok: The plan starter is sold for 9 USD a month',
      'ok: The plan pro is sold for 29 USD a month',
      'ok: Requests over the cap are sold by a meter',
    ])
  })

  it('changes nothing at Stripe', async () => {
    const before = at.double.calls().length
    await check()
    const methods = new Set(
      at.double
        .calls()
        .slice(before)
        .map(({ method }) => method),
    )
    assert.deepEqual([...methods], ['GET'])
  })

  it('finds a Stripe that does not answer, and asks no more', async () => {
    const [found = '', ...more] = await check({}, { apiBase: 'http://127.0.0.1:1' })
    assert.match(found, /^wrong: Stripe does not answer: .* → see to the network$/)
    assert.deepEqual(more, [])
  })

  it('finds a key that is refused, and does not show it', async () => {
    const key = ['sk', 'live', 'x'.repeat(24)].join('_')
    assert.deepEqual(await check({}, { key }), [
      'wrong: Stripe refuses the key → see to STRIPE_SECRET_KEY',
    ])
  })

  it('finds a Stripe in trouble', async () => {
    at.double.failCalls({ kind: '500' })
    const [found = ''] = await check()
    assert.match(found, /^wrong: Stripe does not read customers: StripeAPIError, status 500 → /)
  })

  it('names the permission that a restricted key lacks', async () => {
    at.double.failCalls({ kind: '403' })
    const [found = '', ...others] = await check()
    assert.match(found, /^wrong: The key may not read customers → give .* rak_customer_read; /)
    assert.equal(others.length, 3)
  })

  it('only warns where the key may not read prices, which a server does not', async () => {
    const untold = { reason: 'not allowed', detail: 'rak_plan_read' } as const
    const account = { tryToRead: async () => 'may' as const, readPrice: async () => untold }
    const found = lines(await checkAccount(account, settings({ plans: [pro()] })))
    assert.match(
      found[1] ?? '',
      /^warning: STRIPE_PRICE_PRO is not checked: .* → give .* rak_plan_read/,
    )
    assert.match(found[2] ?? '', /^warning: STRIPE_PRICE_OVERAGE is not checked/)
  })

  it('finds signing secrets that are missing, or are none, and does not show them', async () => {
    const [missing = ''] = await check({ webhookSecrets: [] })
    assert.match(missing, /^wrong: STRIPE_WEBHOOK_SECRET is not set: .* → set it to the signing/)
    const [none = ''] = await check({ webhookSecrets: [newSigningSecret(), newSecretKey()] })
    assert.match(none, /^wrong: STRIPE_WEBHOOK_SECRET holds something that is no signing secret → /)
  })
})

describe('the check of a price', () => {
  it('finds none, and one of another account', async () => {
    const plan = { id: 'big-shop', amount: 29, priceId: undefined }
    const found = await check({ plans: [plan] })
    assert.equal(found[1], 'warning: The plan big-shop is not for sale → set STRIPE_PRICE_BIG_SHOP')
    assert.match(
      await checkPrice('price_none'),
      /^wrong: STRIPE_PRICE_BIG_SHOP: there is no price price_none in this account → a key of test/,
    )
  })

  it('finds one that is archived', async () => {
    const price = await addPrice({})
    assert.match(await checkPrice(price), /^ok/)
    await at.stripe.prices.update(price, { active: false })
    assert.match(await checkPrice(price), /^wrong: The price of the plan big-shop is archived → /)
  })

  it('finds one that is not paid by the month', async () => {
    const { id: once } = await at.stripe.prices.create({
      currency: 'usd',
      unit_amount: 2_900,
      product_data: { name: 'Big shop' },
    })
    assert.match(await checkPrice(once), /^wrong: .* is paid once, not by the month → /)
    const yearly = await addPrice({ recurring: { interval: 'year' } })
    assert.match(await checkPrice(yearly), /^wrong: .* is for 1 year, not for 1 month → /)
    const rare = await addPrice({ recurring: { interval: 'month', interval_count: 3 } })
    assert.match(await checkPrice(rare), /^wrong: .* is for 3 months, not for 1 month → /)
  })

  it('finds a metered one in the place of a licensed one, and the other way round', async () => {
    assert.match(await checkPrice(at.overage), /^wrong: .* is not licensed → /)
    const found = await check({ plans: [], overagePrice: at.pro })
    assert.match(found[1] ?? '', /^wrong: The price of requests over the cap is not metered → /)
  })

  it('finds another amount than users are shown, in any currency', async () => {
    const dear = await addPrice({ unit_amount: 3_000 })
    assert.match(await checkPrice(dear), /^wrong: .* is 30 USD, but users are shown 29 → /)
    const yen = await addPrice({ currency: 'jpy', unit_amount: 29 })
    assert.equal(await checkPrice(yen), 'ok: The plan big-shop is sold for 29 JPY a month')
  })
})

describe('the check of events and reports', () => {
  const idle = {
    subscriptions: 0,
    lastEventAt: null,
    waiting: 0,
    refused: 0,
    waitingSince: null,
  }
  const checkState = (changed: Partial<Parameters<typeof checkBillingState>[0]>) =>
    lines(checkBillingState({ ...idle, ...changed }, NOON))

  it('tells when the last event came', () => {
    assert.deepEqual(checkState({ lastEventAt: NOON - 3 * HOUR_MS }), [
      'ok: The last event came 3 hours ago',
    ])
    assert.deepEqual(checkState({}), ['ok: No event has come, and nobody has subscribed'])
    assert.match(
      checkState({ subscriptions: 2 })[0] ?? '',
      /^warning: No event has come in 35 days, but there are 2 subscriptions → /,
    )
  })

  it('tells of reports that wait for long, or are refused', () => {
    const since = (waitingSince: number) => checkState({ waiting: 2, waitingSince }).slice(1).join()
    assert.match(since(NOON - HOUR_MS + 1), /^ok: 2 reports of overages wait, .* for 0 hours$/)
    assert.match(since(NOON - 5 * HOUR_MS), /^warning: 2 reports .* for 5 hours → see that the/)
    const refused = checkState({ waiting: 2, refused: 1, waitingSince: NOON })
    assert.match(refused[1] ?? '', /^wrong: Stripe refuses 1 reports of overages → see docs/)
  })

  it('counts them in the database', async () => {
    const { database } = await makeDataFolder(tempFolder())
    assert.deepEqual(countBilling(database), idle)
    withClient(database, (client) => {
      client.exec(`INSERT INTO processor_events VALUES ('evt_1', 'invoice.paid', ${NOON})`)
      client.exec(`INSERT INTO overage_reports VALUES
        ('a', 'u', 'c', 's', 1, 2, 0, 5, 7, NULL, NULL, 8),
        ('b', 'u', 'c', 's', 2, 3, 0, 5, 6, NULL, NULL, NULL),
        ('c', 'u', 'c', 's', 3, 4, 0, 5, 4, 5, 5, NULL)`)
    })
    assert.deepEqual(countBilling(database), {
      ...idle,
      lastEventAt: NOON,
      waiting: 2,
      refused: 1,
      waitingSince: 6,
    })
    assert.equal(countBilling(join(database, 'none')), undefined)
  })
})

describe('npm run doctor', () => {
  it('looks at billing where there is a key of Stripe', async (t) => {
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
    assert.match(stdout, /^ok {7}Billing {4}Stripe takes the key, and events can be checked$/m)
    assert.match(stdout, /^ok {7}Billing {4}The plan starter is sold for 9 USD a month$/m)
    assert.match(stdout, /^wrong {4}Billing {4}The price of the plan pro is 9 USD, but users are/m)
    assert.equal(stdout.includes(key), false)
  })
})
