import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Stripe from 'stripe'
import { NOW, startDouble, typesOf } from './start.ts'

describe('webhooks', () => {
  it('are signed with every secret of the endpoint over the raw body', async () => {
    await using at = await startDouble()
    const { double, stripe, received, secrets } = at
    const { id } = await stripe.customers.create({ email: 'ada@example.com' })
    await double.settled()
    const [{ body, signature } = { body: '', signature: '' }] = received
    for (const secret of secrets) {
      const event = check(stripe, { body, signature, secret })
      assert.equal(event.type, 'customer.created')
      assert.equal(event.api_version, Stripe.API_VERSION)
      assert.equal(event.created, NOW / 1000)
      assert.equal((event.data.object as Stripe.Customer).id, id) // safe: by the type of the event
      assert.deepEqual(await stripe.events.retrieve(event.id).then((row) => row.id), event.id)
    }
    const wrong = { body: `${body} `, signature, secret: secrets[0] ?? '' }
    assert.throws(() => check(stripe, wrong), Stripe.errors.StripeSignatureVerificationError)
  })

  it('tell what was there before a change', async () => {
    await using at = await startDouble()
    const { id } = await at.stripe.customers.create({ name: 'Ada' })
    await at.stripe.customers.update(id, { name: 'Grace' })
    const [event] = (await at.stripe.events.list({ type: 'customer.updated' })).data
    assert.deepEqual(event?.data.previous_attributes, { name: 'Ada' })
  })

  it('are tried again until they are taken, and then given up', async () => {
    await using at = await startDouble()
    const { double, stripe, received, statuses } = at
    statuses.push(500, 404)
    await stripe.customers.create()
    await double.settled()
    assert.equal(received.length, 3)
    assert.equal(new Set(received.map(({ body }) => body)).size, 1)
    assert.deepEqual(double.deliveries()[0]?.attempts, [500, 404, 200])
    statuses.push(500, 500, 500)
    await stripe.customers.create()
    await double.settled()
    assert.equal(double.deliveries()[1]?.outcome, 'failed')
  })

  it('are dropped, doubled and turned round when they are told to be', async () => {
    await using at = await startDouble()
    const { double, stripe, received } = at
    double.switchDeliveries('drop')
    double.switchDeliveries('duplicate')
    double.switchDeliveries('pass')
    double.switchDeliveries('reorder', 2)
    for (const name of ['dropped', 'doubled', 'passed', 'first', 'second']) {
      await stripe.customers.create({ name })
    }
    await double.settled()
    const names = received.map(({ body }) => JSON.parse(body).data.object.name)
    assert.deepEqual(names, ['doubled', 'doubled', 'passed', 'second', 'first'])
    assert.equal(double.deliveries()[0]?.outcome, 'dropped')
    assert.equal((await stripe.events.list({ type: 'customer.created' })).data.length, 5)
  })

  it('go to endpoints that are made over the API, by the types that they want', async () => {
    await using at = await startDouble()
    const { double, stripe, received, url } = at
    const made = await stripe.webhookEndpoints.create({ url, enabled_events: ['product.created'] })
    await stripe.products.create({ name: 'Other' })
    await double.settled()
    assert.deepEqual(typesOf(received), ['product.created', 'product.created'])
    const { body, signature } = received[1] ?? { body: '', signature: '' }
    check(stripe, { body, signature, secret: made.secret ?? '' })
    await stripe.webhookEndpoints.del(made.id)
    await stripe.products.create({ name: 'Third' })
    await double.settled()
    assert.equal(received.length, 3)
  })
})

interface Signed {
  readonly body: string
  readonly signature: string
  readonly secret: string
}

function check(stripe: Stripe, { body, signature, secret }: Signed): Stripe.Event {
  return stripe.webhooks.constructEvent(body, signature, secret, 300, undefined, NOW)
}
