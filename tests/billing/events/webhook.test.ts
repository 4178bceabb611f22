import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { insertUser, newUser } from '../../../lib/accounts/users.ts'
import { findCustomer } from '../../../lib/billing/subscription/customers.ts'
import { newSigningSecret } from '../../../stripe-double/ids.ts'
import { readEverything, write } from '../../support/database/sql.ts'
import { codeOf, makeApp, NOON, recordingLog } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { freshClient } from '../../support/scene/send.ts'
import { auditOf, openShop, type Shop, SUBSCRIPTION, WEBHOOK } from '../shop.ts'
import { countEvents, deliver, EVENT, sign } from './deliver.ts'

async function addUser({ app }: Shop, email: string): Promise<string> {
  const user = newUser({ email, plan: 'free', now: NOON })
  await insertUser(app.services.db, user).run()
  return user.id
}

describe('many unfinished events from one address', () => {
  it('get 503 beyond 58, and do not delay other addresses', async () => {
    await using shop = await openShop()
    const bodies: ReadableStreamDefaultController<Uint8Array>[] = []
    const from = freshClient()
    const open = () => {
      const body = new ReadableStream({ start: (controller) => void bodies.push(controller) })
      return shop.app.send('POST', WEBHOOK, { body, from })
    }
    const answers = Array.from({ length: 58 }, open)
    assert.equal(codeOf(await open()), 'SERVICE_UNAVAILABLE')
    const other = await shop.app.send('POST', WEBHOOK, { body: '{}', from: freshClient() })
    assert.equal(codeOf(other), 'BAD_REQUEST')
    for (const body of bodies) body.close()
    for (const answer of await Promise.all(answers)) assert.equal(codeOf(answer), 'BAD_REQUEST')
  })
})

describe('the signature of an event', () => {
  const shop = freshly(openShop)

  it('may be made with any of the secrets, so that they can be replaced', async () => {
    for (const secret of shop.secrets) assert.equal((await deliver(shop, { secret })).status, 200)
    const wrong = await deliver(shop, { secret: newSigningSecret() })
    assert.equal(codeOf(wrong), 'BAD_REQUEST')
  })

  it('must be within five minutes of our time', async () => {
    const now = shop.now() / 1000
    for (const [away, status] of [
      [-300, 200],
      [-301, 400],
      [300, 200],
      [301, 400],
      [86_400, 400],
    ] as const) {
      const answer = await deliver(shop, { timestamp: now + away })
      assert.equal(answer.status, status, `${away} seconds away`)
    }
  })

  it('gets 400 if it is missing or malformed, or signs another body', async () => {
    const body = JSON.stringify(EVENT)
    const good = sign({ body, secret: shop.secrets[0] ?? '', timestamp: shop.now() / 1000 })
    const bad = ['', 'nonsense', 't=,v1=', good.replace('v1=', 'v0='), `${good.slice(0, -1)}x`]
    for (const signature of bad) {
      assert.equal((await deliver(shop, { signature })).status, 400, signature)
    }
    assert.equal((await deliver(shop, { signature: good, body: `${body} ` })).status, 400)
    assert.equal((await shop.app.send('POST', WEBHOOK, { body })).status, 400)
  })

  it('is not enough: a body that is not an event gets 400', async () => {
    const thin = { id: 'evt_2', object: 'v2.core.event', type: 'v1.billing.meter.no_meter_found' }
    const bodies = ['no JSON', 'null', '[]', '{}', JSON.stringify(thin), '{"id":"","type":"a"}']
    for (const body of bodies) assert.equal((await deliver(shop, { body })).status, 400, body)
  })

  it('is required, and cannot be verified without a secret: the answer is 400', async () => {
    await using app = await makeApp()
    const unsigned = await app.send('POST', WEBHOOK, { body: EVENT })
    assert.equal(codeOf(unsigned), 'BAD_REQUEST')
    const headers = { 'stripe-signature': 't=1,v1=00' }
    const signed = await app.send('POST', WEBHOOK, { body: EVENT, headers })
    assert.equal(codeOf(signed), 'BAD_REQUEST')
    assert.match(signed.text, /no signing secret is set/)
  })
})

describe('POST /v1/billing/webhook', () => {
  const shop = freshly(openShop)

  it('answers 200 and changes nothing for unknown types and unknown customers', async () => {
    await shop.buy('starter')
    const before = { row: await shop.row(), events: await countEvents(shop) }
    assert.deepEqual((await deliver(shop)).body, { received: true })
    const { id } = await shop.stripe.customers.create({ email: 'eve@example.com' })
    await shop.stripe.customers.update(id, { name: 'Eve' })
    await shop.settled()
    assert.deepEqual({ row: await shop.row(), events: await countEvents(shop) }, before)
    assert.deepEqual(
      shop.double.deliveries().map(({ outcome }) => outcome),
      shop.double.deliveries().map(() => 'delivered'),
    )
  })

  it('ignores an event that arrives twice or late', async () => {
    const { id } = await shop.buy('starter')
    const old = shop.atStripe(id)
    await shop.send('DELETE', SUBSCRIPTION)
    await shop.settled()
    const before = { row: await shop.row(), audit: await auditOf(shop) }
    const body = JSON.stringify({
      id: 'evt_late',
      type: 'customer.subscription.updated',
      data: { object: old },
    })
    shop.newCalls()
    await Promise.all([deliver(shop, { body }), deliver(shop, { body }), deliver(shop, { body })])
    assert.equal(shop.newCalls().length, 1)
    assert.deepEqual({ row: await shop.row(), audit: await auditOf(shop) }, before)
  })

  it('leaves the latest state after doubled and reordered events', async () => {
    shop.double.switchDeliveries('duplicate', 3)
    shop.double.switchDeliveries('reorder', 4)
    const { id } = await shop.buy('starter')
    await shop.stripe.subscriptions.update(id, { cancel_at_period_end: true })
    await shop.stripe.subscriptions.update(id, { cancel_at_period_end: false })
    await shop.stripe.subscriptions.cancel(id)
    await shop.settled()
    assert.equal(await shop.row(), null)
  })

  it('answers 503 while Stripe fails, and handles the event when Stripe sends it again', async () => {
    await shop.buy('starter')
    const row = await shop.row()
    const body = JSON.stringify({
      id: 'evt_again',
      type: 'invoice.paid',
      data: { object: { customer: String(shop.atStripe(row?.id ?? '').customer) } },
    })
    shop.double.failCalls({ kind: '500' })
    assert.equal(codeOf(await deliver(shop, { body })), 'BILLING_UNAVAILABLE')
    assert.equal((await deliver(shop, { body })).status, 200)
    shop.newCalls()
    assert.equal((await deliver(shop, { body })).status, 200)
    assert.deepEqual(shop.newCalls(), [])
  })

  it('writes audit rows for changes and failed payments', async () => {
    const { id } = await shop.buy('starter')
    const { length } = await auditOf(shop)
    await shop.stripe.subscriptions.update(id, { description: 'nothing of ours' })
    await shop.settled()
    assert.equal((await auditOf(shop)).length, length)
    const customer = String(shop.atStripe(id).customer)
    await shop.stripe.subscriptions.update(id, { cancel_at_period_end: true })
    await shop.settled()
    shop.double.emit('invoice.payment_failed', { id: 'in_1', object: 'invoice', customer })
    await shop.settled()
    await shop.stripe.subscriptions.cancel(id)
    await shop.settled()
    assert.deepEqual(
      (await auditOf(shop)).slice(length),
      [
        ['subscription_updated', 'starter active to starter canceling'],
        ['payment_failed', null],
        ['subscription_ended', 'starter canceling to none'],
      ].map(([action, detail]) => ({ app: 'stripe', action, detail })),
    )
  })

  it('ends account and plan when the customer is deleted', async () => {
    const { id } = await shop.buy('pro')
    await shop.stripe.customers.del(String(shop.atStripe(id).customer))
    await shop.settled()
    assert.equal(await shop.row(), null)
    assert.equal(await findCustomer(shop.app.services.db, shop.userId), null)
    assert.match((await shop.send('GET', '/v1/ip/81.2.69.160')).text, /"tier":"free"/)
  })

  it('stores an unknown customer for the user that the event names', async () => {
    await using shop = await openShop()
    const { plan } = await shop.buy('pro')
    await write(shop.app, 'DELETE FROM billing_customers')
    assert.equal(await shop.row(), null)
    const [session] = [...shop.double.world.state.tables.sessions.values()].slice(-1)
    shop.double.emit('checkout.session.completed', { ...session })
    await shop.settled()
    assert.equal((await shop.row())?.plan, plan)
  })

  it('ignores an unknown customer if the event names an unknown user, or one with another customer', async () => {
    const { db } = shop.app.services
    await shop.buy('starter')
    const known = await findCustomer(db, shop.userId)
    const bob = await addUser(shop, 'bob@example.com')
    const stranger = (await shop.stripe.customers.create()).id
    for (const user of ['nobody', shop.userId, bob]) {
      const metadata = { meridian_user: user }
      const object = { object: 'subscription', customer: stranger, metadata }
      shop.double.emit('customer.subscription.updated', object)
      await shop.settled()
      assert.deepEqual((await findCustomer(db, shop.userId))?.customerId, known?.customerId)
      const own = await findCustomer(db, bob)
      assert.equal(own?.customerId, user === bob ? stranger : undefined)
    }
  })
})

describe('database and log of billing', () => {
  it('contain no secret and no card', async () => {
    const log = recordingLog()
    await using shop = await openShop({ log })
    await shop.buy('pro')
    await shop.send('DELETE', SUBSCRIPTION)
    shop.double.failCalls({ kind: '500' })
    await shop.send('DELETE', SUBSCRIPTION)
    await shop.settled()
    const stored = await readEverything(shop.app)
    const written = `${stored}${JSON.stringify([log.events, log.requests])}`
    // The card's last four digits alone may be part of a time or an id.
    const ofCards = ['4242424242424242', 'last4', 'visa']
    for (const secret of [...shop.secrets, ...ofCards, 'sk_test_', '_secret_']) {
      assert.equal(written.includes(secret), false, secret)
    }
  })
})
