import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Stripe from 'stripe'
import { freshly } from '../support/scene/freshly.ts'
import { addPayer, DAY, sdkFor, startDouble } from './start.ts'

describe('API calls', () => {
  const at = freshly(startDouble)

  it('run once for the same idempotency key and parameters', async () => {
    const { stripe } = at
    const once = { idempotencyKey: 'action-1' }
    const first = await stripe.customers.create({ email: 'ada@example.com' }, once)
    const second = await stripe.customers.create({ email: 'ada@example.com' }, once)
    assert.equal(second.id, first.id)
    assert.equal(second.lastResponse.headers['idempotent-replayed'], 'true')
    assert.equal((await stripe.customers.list()).data.length, 1)
    await assert.rejects(
      stripe.customers.create({ email: 'eve@example.com' }, once),
      Stripe.errors.StripeIdempotencyError,
    )
  })

  it('run once if an answer is lost and the call is repeated with its idempotency key', async () => {
    const { double, stripe } = at
    const once = { idempotencyKey: 'action-1' }
    // The usual client of the SDK repeats a call once after a reset connection, even with
    // `maxNetworkRetries: 0`.
    double.failCalls({ kind: 'lost' }, 2)
    const lost = stripe.customers.create({ email: 'ada@example.com' }, once)
    await assert.rejects(lost, Stripe.errors.StripeConnectionError)
    const made = await stripe.customers.create({ email: 'ada@example.com' }, once)
    const all = await stripe.customers.list({ email: 'ada@example.com' })
    assert.deepEqual(
      all.data.map(({ id }) => id),
      [made.id],
    )
  })

  it('show the first lines of an invoice, and list all', async () => {
    const { double, stripe, pro } = at
    const customer = await addPayer(stripe)
    await stripe.subscriptions.create({ customer, items: [{ price: pro }] })
    const { invoices } = double.world.state.tables
    const [row] = invoices.values()
    const [line] = row?.lines.data ?? []
    assert.ok(row && line)
    const data = Array.from({ length: 12 }, (_, n) => ({ ...line, id: `il_${n}` }))
    invoices.set(row.id, { ...row, lines: { ...row.lines, data } })
    const [shown] = (await stripe.invoices.list({ customer })).data
    assert.deepEqual([shown?.lines.data.length, shown?.lines.has_more], [10, true])
    const rest = await stripe.invoices.listLineItems(row.id, { starting_after: 'il_9' })
    assert.deepEqual(
      rest.data.map(({ id }) => id),
      ['il_10', 'il_11'],
    )
  })

  it('fail with 429, 500, a reset or a delay when a fault is set', async () => {
    const { double, stripe } = at
    const call = () => stripe.customers.create()
    double.failCalls({ kind: '429' })
    await assert.rejects(call(), Stripe.errors.StripeRateLimitError)
    double.failCalls({ kind: '500' })
    await assert.rejects(call(), Stripe.errors.StripeAPIError)
    double.failCalls({ kind: 'reset' }, 2)
    await assert.rejects(call(), Stripe.errors.StripeConnectionError)
    double.failCalls({ kind: 'slow', delayMs: 2_000 })
    await assert.rejects(
      stripe.customers.create({}, { timeout: 50 }),
      Stripe.errors.StripeConnectionError,
    )
  })

  it('repeat the answer to their key, also a failure, for a day from when they have begun', async () => {
    const { double, stripe } = at
    const create = (idempotencyKey: string) =>
      stripe.customers.create({ email: 'ada@example.com' }, { idempotencyKey })
    const replayed = { headers: { 'idempotent-replayed': 'true' } }
    for (const kind of ['500', '500 done'] as const) {
      double.failCalls({ kind })
      await rejectsWith(create(kind), { headers: { 'stripe-should-retry': 'false' } })
      await rejectsWith(create(kind), { statusCode: 500, ...replayed })
    }
    assert.equal((await stripe.customers.list()).data.length, 1)
    double.advance(DAY + 1)
    await create('500')
    assert.equal((await stripe.customers.list()).data.length, 2)
    const update = () =>
      stripe.customers.update('cus_none', { name: 'Ada' }, { idempotencyKey: 'missing' })
    await rejectsWith(update(), { statusCode: 404 })
    await rejectsWith(update(), { statusCode: 404, ...replayed })
  })

  it('that were refused before they began leave their key free', async () => {
    const { double, stripe } = at
    const once = { idempotencyKey: 'action-1' }
    for (const kind of ['403', '429', 'locked'] as const) {
      double.failCalls({ kind })
      await assert.rejects(stripe.customers.create({}, once), Stripe.errors.StripeError)
    }
    const wrong = { nickname: 'ada' } as Stripe.CustomerCreateParams // safe: Stripe is to refuse it
    await assert.rejects(stripe.customers.create(wrong, once), { code: 'parameter_unknown' })
    await assert.rejects(sdkFor(double.port, 'none').customers.create({}, once), {
      statusCode: 401,
    })
    assert.ok((await stripe.customers.create({}, once)).id)
  })

  it('get 409 while a call with their key runs', async () => {
    const { double, stripe } = at
    const once = { idempotencyKey: 'action-1' }
    double.failCalls({ kind: 'slow', delayMs: 300 })
    const slow = stripe.customers.create({}, once)
    const second = stripe.customers.create({}, once)
    await rejectsWith(second, { statusCode: 409, code: 'idempotency_key_in_use' })
    assert.ok((await slow).id)
  })

  it('expand at most ten subscriptions of a customer', async () => {
    const { stripe, starter } = at
    const customer = await addPayer(stripe)
    const subscribe = () => stripe.subscriptions.create({ customer, items: [{ price: starter }] })
    for (let n = 0; n < 11; n += 1) await subscribe()
    const { subscriptions } = (await stripe.customers.retrieve(customer, {
      expand: ['subscriptions'],
    })) as Stripe.Customer // safe: it exists
    assert.equal(subscriptions?.data.length, 10)
    assert.equal(subscriptions.has_more, true)
  })

  it('are answered late only if their method is that of the fault', async () => {
    const { double, stripe } = at
    double.failCalls({ kind: 'late', delayMs: 60_000, method: 'POST' })
    assert.deepEqual((await stripe.customers.list()).data, [])
    await assert.rejects(
      stripe.customers.create({}, { timeout: 1_000 }),
      Stripe.errors.StripeConnectionError,
    )
    // The call may be read after its client has given up.
    while ((await stripe.customers.list()).data.length === 0) await sleep(10)
    assert.equal((await stripe.customers.list()).data.length, 1)
  })

  it('to an unknown path get 404, never an empty success', async () => {
    await assert.rejects(at.stripe.payouts.list(), (error) => {
      assert.ok(error instanceof Stripe.errors.StripeInvalidRequestError)
      assert.equal(error.statusCode, 404)
      assert.match(error.message, /Unrecognized request URL \(GET: \/v1\/payouts\)/)
      return true
    })
  })

  it('that are invalid get an error in the format of Stripe with a request id', async () => {
    const { stripe, pro } = at
    const customer = await addPayer(stripe)
    const url = 'https://app.example'
    const session = { mode: 'subscription', customer, success_url: url } as const
    const line_items = [{ price: pro, quantity: 1 }]
    const cases: [() => Promise<unknown>, object][] = [
      [() => stripe.customers.retrieve('cus_none'), { code: 'resource_missing', statusCode: 404 }],
      [
        () => stripe.subscriptions.create({ customer, items: [{ price: 'price_none' }] }),
        { code: 'resource_missing', param: 'items[0][price]', statusCode: 400 },
      ],
      [() => stripe.customers.list({ limit: 101 }), { param: 'limit', statusCode: 400 }],
      [
        () => stripe.checkout.sessions.create({ ...session, line_items, ui_mode: 'hosted' }),
        { param: 'ui_mode', statusCode: 400 },
      ],
      [
        () => stripe.checkout.sessions.create({ ...session, line_items: [{ price: pro }] }),
        { param: 'line_items[0][quantity]', code: 'parameter_missing' },
      ],
      [
        () => stripe.checkout.sessions.create({ mode: 'subscription', customer, line_items }),
        { param: 'success_url', code: 'parameter_missing' },
      ],
      [
        () => stripe.customers.retrieve(customer, { expand: ['email.nope'] }),
        { param: 'expand', statusCode: 400 },
      ],
    ]
    for (const [call, expected] of cases) {
      await assert.rejects(call(), (error) => {
        assert.ok(error instanceof Stripe.errors.StripeInvalidRequestError)
        assert.partialDeepStrictEqual({ ...error }, expected)
        assert.match(error.requestId ?? '', /^req_/)
        return true
      })
    }
  })

  it('with unknown parameters get 400, so that nothing is ignored silently', async () => {
    await assert.rejects(at.stripe.rawRequest('POST', '/v1/customers', { nickname: 'ada' }), {
      code: 'parameter_unknown',
      param: 'nickname',
      statusCode: 400,
    })
  })

  it('that fail change nothing and send no events', async () => {
    const { double, stripe } = at
    const bad = stripe.customers.create({ email: 'ada@example.com', expand: ['email.nope'] })
    await assert.rejects(bad, { statusCode: 400 })
    assert.deepEqual((await stripe.customers.list()).data, [])
    await double.settled()
    assert.deepEqual(at.received, [])
  })

  it('need a test mode key', async () => {
    const live = sdkFor(at.double.port, ['sk', 'live', 'x'].join('_'))
    await assert.rejects(live.customers.list(), Stripe.errors.StripeAuthenticationError)
  })

  it('list the newest rows first, page by page', async () => {
    const { stripe } = at
    const ids: string[] = []
    for (let made = 0; made < 5; made += 1) ids.unshift((await stripe.customers.create()).id)
    const first = await stripe.customers.list({ limit: 2 })
    assert.deepEqual(
      first.data.map(({ id }) => id),
      ids.slice(0, 2),
    )
    assert.equal(first.has_more, true)
    const starting_after = ids[2] ?? ''
    const last = await stripe.customers.list({ limit: 2, starting_after })
    assert.deepEqual(
      last.data.map(({ id }) => id),
      ids.slice(3),
    )
    assert.equal(last.has_more, false)
    const all = await stripe.customers.list({ limit: 2 }).autoPagingToArray({ limit: 100 })
    assert.deepEqual(
      all.map(({ id }) => id),
      ids,
    )
  })
})

/** Requires an error of Stripe with these fields, among others. */
function rejectsWith(call: Promise<unknown>, fields: object): Promise<void> {
  return assert.rejects(call, (error) => {
    assert.ok(error instanceof Stripe.errors.StripeError)
    assert.partialDeepStrictEqual({ ...error }, fields)
    return true
  })
}
