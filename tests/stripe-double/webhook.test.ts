import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Stripe from 'stripe'
import { freshly } from '../support/scene/freshly.ts'
import { NOW, startDouble } from './start.ts'

describe('webhooks', () => {
  const at = freshly(startDouble)

  it('are signed with every secret of the endpoint over the raw body', async () => {
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
    }
    const wrong = { body: `${body} `, signature, secret: secrets[0] ?? '' }
    assert.throws(() => check(stripe, wrong), Stripe.errors.StripeSignatureVerificationError)
  })

  it('contain the previous values of changed fields', async () => {
    const { id } = await at.stripe.customers.create({ name: 'Ada' })
    await at.stripe.customers.update(id, { name: 'Grace' })
    await at.double.settled()
    const { type, data } = JSON.parse(at.received[1]?.body ?? '')
    assert.equal(type, 'customer.updated')
    assert.deepEqual(data.previous_attributes, { name: 'Ada' })
  })

  it('are retried until they are accepted or the retries run out', async () => {
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

  it('are dropped, duplicated and reordered when a switch is set', async () => {
    const { double, stripe, received } = at
    double.switchDeliveries('drop')
    double.switchDeliveries('duplicate')
    double.switchDeliveries('pass')
    double.switchDeliveries('reorder', 2)
    for (const name of ['dropped', 'duplicated', 'passed', 'first', 'second']) {
      await stripe.customers.create({ name })
    }
    await double.settled()
    const names = received.map(({ body }) => JSON.parse(body).data.object.name)
    assert.deepEqual(names, ['duplicated', 'duplicated', 'passed', 'second', 'first'])
    assert.equal(double.deliveries()[0]?.outcome, 'dropped')
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
