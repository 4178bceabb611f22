import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { freshly } from '../support/scene/freshly.ts'
import { DAY, NOW, startDouble } from './start.ts'

describe('the control API of the double', () => {
  const at = freshly(startDouble)

  it('advances the clock', async () => {
    const answer = await post(`${at.double.url}/_double/clock`, { advanceSeconds: DAY })
    assert.deepEqual(await answer.json(), { now: NOW / 1000 + DAY })
    assert.equal((await at.stripe.customers.create()).created, NOW / 1000 + DAY)
  })

  it('switches deliveries, and lists them', async () => {
    await post(`${at.double.url}/_double/switches`, { deliveries: 'drop' })
    await at.stripe.customers.create()
    const deliveries = await fetch(`${at.double.url}/_double/deliveries`)
    const [first] = JSON.parse(await deliveries.text())
    assert.equal(first.type, 'customer.created')
    assert.equal(first.outcome, 'dropped')
    await post(`${at.double.url}/_double/faults`, { fault: { kind: '429' }, count: 1 })
    await assert.rejects(at.stripe.customers.list(), { statusCode: 429 })
  })

  it('pays an embedded checkout session', async () => {
    const { id: customer } = await at.stripe.customers.create()
    const session = await at.stripe.checkout.sessions.create({
      mode: 'subscription',
      customer,
      ui_mode: 'embedded_page',
      line_items: [{ price: at.starter, quantity: 1 }],
      return_url: 'https://app.example/done',
    })
    assert.equal(session.url, null)
    assert.ok(session.client_secret)
    const url = `${at.double.url}/_double/checkout/${session.id}/pay`
    const paid = await post(url, { card: 'pm_card_visa' })
    assert.equal(JSON.parse(await paid.text()).status, 'complete')
  })

  it('sends events that the double never sends on its own', async () => {
    const object = { id: 'ch_1', object: 'charge' }
    await post(`${at.double.url}/_double/events`, { type: 'charge.refunded', object })
    await at.double.settled()
    assert.partialDeepStrictEqual(JSON.parse(at.received[0]?.body ?? ''), {
      type: 'charge.refunded',
      data: { object },
    })
  })

  it('answers 400 to an unknown delivery switch', async () => {
    const answer = await post(`${at.double.url}/_double/switches`, { deliveries: 'lose' })
    assert.equal(answer.status, 400)
  })
})

function post(url: string, body: object): Promise<Response> {
  return fetch(url, { method: 'POST', body: JSON.stringify(body) })
}
