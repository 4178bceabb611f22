import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { saveStripeAccount } from '../../../lib/billing/mirror/stripe-account.ts'
import { findCustomer } from '../../../lib/billing/subscription/customers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { openShop, SUBSCRIPTION } from '../shop.ts'
import { countEvents, deliver, EVENT } from './deliver.ts'

/*
 * Events of connected accounts have `account`, and `livemode` says the mode:
 * https://docs.stripe.com/connect/webhooks and https://docs.stripe.com/api/events/object
 */
describe('an event of another account or mode', () => {
  const shop = freshly(openShop)
  const metadata = () => ({ meridian_user: shop.userId })

  for (const [name, origin, customer] of [
    ['a connected account', { account: 'acct_other' }, null],
    ['live mode', { livemode: true }, null],
    ['an account whose customer Stripe does not know', {}, 'cus_other'],
  ] as const) {
    it(`is 200 and stores nothing: ${name}`, async () => {
      const id = customer ?? (await shop.stripe.customers.create()).id
      const object = { id: 'sub_other', customer: id, metadata: metadata() }
      const type = 'customer.subscription.created'
      const body = JSON.stringify({ ...EVENT, ...origin, type, data: { object } })
      assert.equal((await deliver(shop, { body })).status, 200)
      assert.equal(await findCustomer(shop.app.services.db, shop.userId), null)
      assert.equal(await countEvents(shop), 0)
      assert.equal((await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })).status, 200)
    })
  }

  for (const [status, known] of [
    [503, 'live'],
    [200, 'test'],
  ] as const) {
    it(`is ${status} in live mode with a key of test mode, if our customers are of ${known} mode`, async () => {
      const account = { account: shop.double.world.account, mode: known }
      await saveStripeAccount(shop.app.services.db, account).run()
      const object = { id: 'sub_other', customer: 'cus_other', metadata: metadata() }
      const type = 'customer.subscription.created'
      const body = JSON.stringify({ ...EVENT, livemode: true, type, data: { object } })
      assert.equal((await deliver(shop, { body })).status, status)
      assert.equal(await countEvents(shop), 0)
    })
  }

  it('is 200 if Stripe no longer knows our own customer', async () => {
    const { id } = await shop.buy('pro')
    const customer = String(shop.atStripe(id).customer)
    shop.double.world.state.tables.customers.delete(customer)
    const object = { id: 'in_1', customer }
    const body = JSON.stringify({ ...EVENT, id: 'evt_2', type: 'invoice.paid', data: { object } })
    assert.equal((await deliver(shop, { body })).status, 200)
    assert.equal((await shop.row())?.plan, 'pro')
  })
})
