import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findCustomer } from '../../../lib/billing/subscription/customers.ts'
import { readValue, write } from '../../support/database/sql.ts'
import { recordingLog } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { auditOf, DAY, openShop, SUBSCRIPTION } from '../shop.ts'

const OTHER = "the user's customer here is cus_other"

describe('reconciliation', () => {
  const shop = freshly(openShop)

  it('stores changes whose events were lost', async () => {
    const { reconciliation } = shop.app.services
    const { id } = await shop.buy('starter')
    shop.double.switchDeliveries('drop', 1_000)
    const changes = [
      () => shop.stripe.subscriptions.update(id, { cancel_at_period_end: true }),
      () => shop.stripe.subscriptions.update(id, { cancel_at_period_end: false }),
      () => shop.stripe.subscriptions.cancel(id),
    ]
    const seen: unknown[] = []
    for (const change of changes) {
      await change()
      await reconciliation.run()
      seen.push((await shop.row())?.cancelAt)
    }
    assert.deepEqual(seen, [Date.UTC(2026, 1, 15, 12), null, undefined])
    assert.deepEqual(
      (await auditOf(shop)).slice(-3).map(({ app, action }) => [app, action]),
      [
        ['stripe', 'subscription_updated'],
        ['stripe', 'subscription_updated'],
        ['stripe', 'subscription_ended'],
      ],
    )
  })

  it('lists subscriptions, drafts and open invoices, and no more, if nothing has changed', async () => {
    await shop.buy('starter')
    await shop.app.services.reconciliation.run()
    shop.newCalls()
    await shop.app.services.reconciliation.run()
    assert.deepEqual(shop.newCalls(), [
      'GET /v1/subscriptions',
      'GET /v1/invoices',
      'GET /v1/invoices',
    ])
  })

  it('reads every page of the list', async () => {
    shop.double.switchDeliveries('drop', 10_000)
    await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
    const { customerId } = (await findCustomer(shop.app.services.db, shop.userId)) ?? {}
    const customer = (await shop.stripe.customers.create()).id
    const items = [{ price: shop.prices.starter }]
    const behaviour = { payment_behavior: 'default_incomplete' } as const
    await shop.stripe.subscriptions.create({ customer: customerId ?? '', items, ...behaviour })
    for (let made = 0; made < 105; made++) {
      await shop.stripe.subscriptions.create({ customer, items, ...behaviour })
    }
    shop.newCalls()
    await shop.app.services.reconciliation.run()
    const lists = shop.newCalls().filter((call) => call === 'GET /v1/subscriptions')
    assert.equal(lists.length, 2)
    assert.equal((await shop.row())?.status, 'incomplete')
  })

  it('finds customers that a restored database does not know', async () => {
    const log = recordingLog()
    await using shop = await openShop({ log })
    const { services } = shop.app
    await shop.buy('pro')
    const { customerId } = (await findCustomer(services.db, shop.userId)) ?? {}
    await write(shop.app, 'DELETE FROM billing_customers')
    await services.reconciliation.run()
    assert.equal((await findCustomer(services.db, shop.userId))?.customerId, customerId)
    assert.equal((await shop.row())?.plan, 'pro')
    await write(shop.app, "UPDATE billing_customers SET customer_id = 'cus_other'")
    await services.reconciliation.run()
    const warned = log.events.filter(({ level }) => level === 'warn').map(({ fields }) => fields)
    const first = { user: shop.userId, customer: customerId, detail: OTHER }
    assert.deepEqual(warned.at(-1), { kind: 'other-customer', count: 1, first: [first] })
  })

  it('logs a customer that cannot be read, and continues with the others', async () => {
    const log = recordingLog()
    await using shop = await openShop({ log })
    const { reconciliation } = shop.app.services
    const { id } = await shop.buy('starter')
    await reconciliation.run()
    shop.double.switchDeliveries('drop', 100)
    await shop.stripe.subscriptions.update(id, { cancel_at_period_end: true })
    const times = log.events.length
    failSecondCall(shop)
    await reconciliation.run()
    assert.equal((await shop.row())?.cancelAt, null)
    const logged = log.events.slice(times).map(({ message }) => message)
    assert.deepEqual(logged, [
      'a call to Stripe failed',
      'cannot compare subscriptions with Stripe',
    ])
    await reconciliation.run()
    assert.notEqual((await shop.row())?.cancelAt, null)
  })

  it('removes the ids of events that are too old to be delivered again', async () => {
    await shop.buy('starter')
    const count = () => readValue(shop.app, 'SELECT count(*) FROM processor_events')
    assert.notEqual(await count(), 0)
    shop.double.switchDeliveries('drop', 1_000)
    shop.pass(35 * DAY - 1)
    await shop.app.services.reconciliation.run()
    assert.notEqual(await count(), 0)
    shop.pass(1)
    await shop.app.services.reconciliation.run()
    assert.equal(await count(), 0)
  })

  it('runs in the background from the start, and ends with the service', async () => {
    const { reconciliation } = shop.app.services
    const { id } = await shop.buy('starter')
    shop.double.switchDeliveries('drop', 100)
    await shop.stripe.subscriptions.cancel(id)
    reconciliation.start()
    while ((await shop.row()) !== null) await new Promise((resolve) => setImmediate(resolve))
    reconciliation[Symbol.dispose]()
    assert.equal(await shop.row(), null)
  })
})

/** The first call lists subscriptions, the second reads one customer. */
function failSecondCall({ double }: Awaited<ReturnType<typeof openShop>>): void {
  double.failCalls({ kind: 'slow', delayMs: 0 })
  double.failCalls({ kind: '429' })
}
