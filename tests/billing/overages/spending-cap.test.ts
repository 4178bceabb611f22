import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { Overages } from '../../../lib/contract/billing/overages.ts'
import { readColumn, readRows } from '../../support/database/sql.ts'
import { codeOf } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import {
  CAP,
  endOf,
  meteredUnits,
  openOverageShop,
  openShopOverCap,
  setOverages,
  subscribe,
  sync,
} from './overages.ts'

const PATH = '/v1/billing/overages'

/** The price is a tenth of a cent. */
const PER_CENT = 10

type Shop = Awaited<ReturnType<typeof openShopOverCap>>

async function show({ app, key }: Pick<Shop, 'app' | 'key'>) {
  const { status, body } = await app.send('GET', PATH, { key })
  assert.equal(status, 200)
  return v.parse(Overages, body)
}

function setCap({ app, key }: Pick<Shop, 'app' | 'key'>, spendingCap: unknown) {
  return app.send('PUT', PATH, { key, body: { spendingCap } })
}

async function degraded({ app, key }: Pick<Shop, 'app' | 'key'>): Promise<unknown> {
  const { body } = await app.send('GET', '/v1/ip/81.2.69.160', { key })
  return v.parse(v.object({ meta: v.object({ degraded: v.boolean() }) }), body).meta.degraded
}

describe('GET /v1/billing/overages', () => {
  it('shows the price and the cap before the user agrees, and calls Stripe for neither', async () => {
    await using at = await openOverageShop()
    const { key } = await subscribe(at)
    const calls = at.double.calls().length
    assert.deepEqual(await show({ ...at, key }), {
      overagesEnabled: false,
      cap: 5,
      currency: 'usd',
      unitPrice: '0.1',
      spendingCap: 8700,
      largestSpendingCap: 290_000,
      units: 0,
      maxUnits: 87_000,
      amount: 0,
      thresholds: [],
    })
    assert.equal(at.double.calls().length, calls)
  })

  it('shows units and money to date, as the invoice has them', async () => {
    await using at = await openShopOverCap()
    await at.ask(25)
    const { units, amount, thresholds } = await show(at)
    assert.deepEqual(
      { units, amount, thresholds },
      {
        units: 25,
        amount: 3,
        thresholds: ['near_cap', 'reach_cap'],
      },
    )
    await at.overages.reportAll(at.userId)
    at.pass((await endOf(at)) - at.clock.now)
    const [renewal] = (await at.stripe.invoices.list({ customer: at.customer })).data
    const line = renewal?.lines.data.find(({ quantity }) => quantity === units)
    assert.equal(line?.amount, amount)
  })

  it('is 403 below the plan pro, 404 without a subscription, 503 without a price', async () => {
    await using at = await openOverageShop()
    const starter = await subscribe(at, { price: at.starter })
    const given = await at.app.makeKey({ email: 'bob@example.com', plan: 'pro' })
    for (const [key, code] of [
      [starter.key, 'PLAN_REQUIRED'],
      [given, 'NO_ACTIVE_SUBSCRIPTION'],
    ] as const) {
      assert.equal(codeOf(await at.app.send('GET', PATH, { key })), code)
      assert.equal(codeOf(await setCap({ app: at.app, key }, 100)), code)
    }
    await using unpriced = await openOverageShop(['STRIPE_PRICE_OVERAGE'])
    const { key } = await subscribe(unpriced)
    assert.equal(codeOf(await unpriced.app.send('GET', PATH, { key })), 'BILLING_NOT_CONFIGURED')
  })
})

describe('the spending cap', () => {
  const at = freshly(openShopOverCap)

  it('reduces look-ups again, and neither counts, reports nor charges what is above it', async () => {
    assert.equal((await setCap(at, 2)).status, 200)
    await at.ask(2 * PER_CENT - 1)
    assert.equal(await degraded(at), false)
    assert.equal(await degraded(at), true)
    await at.ask(30)
    const blocked = await at.app.send('GET', '/v1/ip/81.2.69.160/timezone', { key: at.key })
    assert.equal(codeOf(blocked), 'PLAN_CAP_EXCEEDED')
    const { units, amount, thresholds } = await show(at)
    assert.deepEqual([units, amount], [2 * PER_CENT, 2])
    assert.deepEqual(thresholds, ['near_cap', 'reach_cap', 'reach_spending_cap'])
    await at.overages.reportAll(at.userId)
    assert.equal(meteredUnits(at, at.customer), 2 * PER_CENT)
  })

  it('holds for requests of a batch and for simultaneous ones', async () => {
    await setCap(at, 1)
    const body = { ips: Array.from({ length: 7 }, () => '81.2.69.160') }
    const batch = () => at.app.send('POST', '/v1/ip/batch', { key: at.key, body })
    const answers = await Promise.all([batch(), batch(), batch()])
    const Results = v.object({
      results: v.array(v.object({ meta: v.object({ degraded: v.boolean() }) })),
    })
    const full = answers
      .flatMap((answer) => v.parse(Results, answer.body).results)
      .filter(({ meta }) => !meta.degraded)
    assert.equal(full.length, PER_CENT)
    assert.equal((await show(at)).units, PER_CENT)
  })

  it('applies from the next request when it is changed, also for sessions of the next process', async () => {
    await using at = await openShopOverCap()
    await setCap(at, 1)
    await at.ask(PER_CENT)
    assert.equal(await degraded(at), true)
    await setCap(at, 2)
    assert.equal(await degraded(at), false)
    await setCap(at, 0)
    assert.equal(await degraded(at), true)
    assert.equal((await show(at)).units, PER_CENT + 1)
    await setCap(at, 2)
    const app = await at.app.restart()
    assert.equal(await degraded({ ...at, app }), false)
    assert.equal((await show({ ...at, app })).units, PER_CENT + 2)
    await app.close()
  })

  it('starts from zero in each period', async () => {
    await setCap(at, 1)
    await at.ask(PER_CENT)
    assert.equal(await degraded(at), true)
    at.pass((await endOf(at)) - at.clock.now)
    await sync(at, at.userId)
    await at.ask(CAP)
    assert.equal(await degraded(at), false)
    assert.equal((await show(at)).units, 1)
  })

  it('is at most a hundred times the price of the plan, a whole amount and not negative', async () => {
    await using at = await openOverageShop()
    const { key } = await subscribe(at)
    for (const cap of [290_001, -1, 0.5, '5', null, undefined, 1e300]) {
      assert.equal(codeOf(await setCap({ ...at, key }, cap)), 'BAD_REQUEST', String(cap))
    }
    assert.equal((await setCap({ ...at, key }, 290_000)).status, 200)
    assert.equal((await show({ ...at, key })).spendingCap, 290_000)
  })

  it('is audited when it changes, and named when the user agrees to pay', async () => {
    await using at = await openOverageShop()
    const { key } = await subscribe(at)
    await setCap({ ...at, key }, 500)
    await setCap({ ...at, key }, 500)
    await setOverages(at.app, key, true)
    const rows = await readRows(
      at.app,
      "SELECT action, detail FROM audit_log WHERE action LIKE 'set_%' ORDER BY id",
    )
    assert.deepEqual(rows, [
      ['set_spending_cap', '$87.00 to $5.00'],
      ['set_overages', 'on: $0.001 per request, at most $5.00 per period'],
    ])
  })

  it('is announced once, in the audit log and the log', async () => {
    await setCap(at, 1)
    const { ledger } = at.app.services
    const notices = () =>
      readColumn(
        at.app,
        "SELECT detail FROM audit_log WHERE action LIKE '%spending_cap' AND action <> 'set_spending_cap' ORDER BY id",
      )
    await at.ask(PER_CENT - 1)
    await ledger.flush()
    assert.deepEqual(await notices(), [])
    await at.ask(1)
    await ledger.flush()
    assert.deepEqual(await notices(), ['$0.01 for 10 requests'])
    await at.ask(3)
    await ledger.flush()
    await setCap(at, 0)
    await at.ask(1)
    await setCap(at, 1)
    await at.ask(1)
    await ledger.flush()
    assert.deepEqual(await notices(), ['$0.01 for 10 requests'])
    await setCap(at, 2)
    await at.ask(PER_CENT)
    await ledger.flush()
    assert.deepEqual(await notices(), ['$0.01 for 10 requests', '$0.02 for 20 requests'])
    const logged = at.log.events.map(({ message }) => message)
    assert.equal(logged.filter((text) => text === 'a user has reached the spending cap').length, 2)
  })
})
