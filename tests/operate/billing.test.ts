import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { auditOf, DAY, openShop, type Shop, type ShopOptions } from '../billing/shop.ts'
import { write } from '../support/database/sql.ts'
import { makeApp } from '../support/helpers.ts'
import { closedAfterTest } from '../support/scene/freshly.ts'
import type { PageOptions } from '../support/scene/pages.ts'
import { actionsOf } from './actions.ts'
import { OPERATOR } from './operator.ts'

const closed = closedAfterTest()

const PAGE = '/app/operate/billing'

/** A service that sells, and what its operator does on the page. */
async function open(options?: ShopOptions) {
  const shop = closed(await openShop(options))
  const olga = shop.app.operator('olga')
  const { comparison } = shop.app.services.operatorJobs
  const act = (name: string, form?: PageOptions['form']) => olga.submit(`${PAGE}/${name}`, form)
  const show = async (query = '') => (await olga.visit(`${PAGE}${query}`)).html
  return {
    shop,
    act,
    show,
    /** Compares, and repairs what the form names. Returns the page that shows the result. */
    run: async (name: 'compare' | 'repair', form?: PageOptions['form']) => {
      const { status, location } = await act(name, form)
      assert.deepEqual([status, location], [303, PAGE])
      await comparison.settled()
      return show()
    },
    actions: async () =>
      (await actionsOf(shop.app, OPERATOR)).map(({ action, target_id, detail }) => [
        action,
        target_id,
        detail,
      ]),
  }
}

/** Ends the subscription at Stripe without an event. Returns its customer. */
async function endUnnoticed(shop: Shop): Promise<string> {
  const { id } = await shop.buy('pro')
  shop.double.switchDeliveries('drop', 100)
  await shop.stripe.subscriptions.cancel(id)
  return String(shop.atStripe(id).customer)
}

/** Buys Starter, and Pro on a page that Meridian did not open. Returns the one that is left over. */
async function payTwice(shop: Shop): Promise<string> {
  const { id } = await shop.buy('starter')
  shop.pass(10 * DAY)
  await shop.settled()
  const { customer, default_payment_method: method } = shop.atStripe(id)
  await shop.stripe.subscriptions.create({
    customer: String(customer),
    default_payment_method: String(method),
    items: [{ price: shop.prices.pro }],
  })
  await shop.settled()
  return id
}

describe('the billing page of operators', () => {
  it('says that billing is not configured, and refuses every action', async () => {
    await using app = await makeApp()
    const olga = app.operator('olga')
    assert.match((await olga.visit(PAGE)).html, /Billing is not configured/)
    for (const action of ['compare', 'repair']) {
      const { status, html } = await olga.submit(`${PAGE}/${action}`)
      assert.equal(status, 503)
      assert.match(html, /role="alert">Billing is not configured/)
    }
    const form = { user: 'nobody' }
    const { status } = await olga.submit(`${PAGE}/duplicates/end`, form)
    assert.equal(status, 404)
    assert.deepEqual(await actionsOf(app, OPERATOR), [])
  })

  it('shows that the database agrees with Stripe', async () => {
    const { shop, run, show, actions } = await open()
    await shop.buy('pro')
    assert.doesNotMatch(await show(), /agrees with Stripe/)
    assert.match(await run('compare'), /Last compared .*The database agrees with Stripe/)
    assert.deepEqual(await actions(), [['compare_billing', null, null]])
  })

  it('reads an outdated subscription again, and audits who did it', async () => {
    const { shop, run, actions } = await open()
    const customer = await endUnnoticed(shop)
    const found = await run('compare')
    assert.match(found, /<h3>pro here, no plan at Stripe<\/h3><span class="badge near">outdated/)
    const [, mismatch = ''] = /name="mismatch" value="([^"]+)"/.exec(found) ?? []
    assert.match(await run('repair', { mismatch }), /1 mismatch repaired.*The database agrees/)
    assert.equal(await shop.row(), null)
    assert.deepEqual((await actions()).slice(1), [
      ['compare_billing', null, `repair outdated ${customer}`],
      ['resync_subscription', customer, `user ${shop.userId}: pro here, no plan at Stripe`],
    ])
    const ofUser = (await auditOf(shop)).map(({ app, action }) => [app, action])
    assert.deepEqual(ofUser.slice(-2), [
      ['dashboard', 'resync_subscription'],
      ['stripe', 'subscription_ended'],
    ])
  })

  it('repairs only what is wanted, or all', async () => {
    const { shop, run, actions } = await open()
    const { id } = await shop.buy('pro')
    const customer = String(shop.atStripe(id).customer)
    await write(shop.app, 'DELETE FROM billing_customers')
    const kept = await run('repair', { mismatch: 'outdated cus_none' })
    assert.match(kept, /unassigned-customer/)
    assert.equal(await shop.row(), null)
    assert.match(await run('repair'), /1 mismatch repaired.*The database agrees/)
    assert.equal((await shop.row())?.plan, 'pro')
    assert.deepEqual((await actions()).slice(1), [
      ['compare_billing', null, 'repair all'],
      ['assign_customer', customer, `user ${shop.userId}`],
    ])
  })

  it('shows what the operator has to repair elsewhere', async () => {
    const { shop, run } = await open()
    const { id } = await shop.buy('pro')
    shop.double.world.state.tables.customers.delete(String(shop.atStripe(id).customer))
    shop.double.world.state.tables.subscriptions.delete(id)
    const html = await run('compare')
    assert.match(html, /badge error">missing-customer.*check STRIPE_SECRET_KEY/)
    assert.doesNotMatch(html, /Repair all/)
  })

  it('says why a comparison failed: Stripe is away', async () => {
    const { shop, run } = await open()
    await shop.buy('pro')
    shop.double.failCalls({ kind: '500' }, 100)
    const html = await run('compare')
    assert.match(html, /role="alert">Failed .*: Billing is unavailable/)
  })

  it('refuses to repair while a comparison is under way', async () => {
    const { shop, act } = await open()
    shop.double.failCalls({ kind: 'slow', delayMs: 1_000 })
    await act('compare')
    const { status, html } = await act('repair')
    await shop.app.services.operatorJobs.comparison.settled()
    assert.equal(status, 400)
    assert.match(html, /role="alert">A comparison is under way/)
  })
})

describe('a customer who pays twice', () => {
  it('is shown, and loses the second subscription by the button', async () => {
    const { shop, act, show, actions } = await open()
    const starter = await payTwice(shop)
    const html = await show()
    assert.match(
      html,
      new RegExp(`<h3>ada@example.com</h3>.*Also pays for starter: <code>${starter}`),
    )
    const { status, location } = await act('duplicates/end', { user: shop.userId })
    assert.deepEqual([status, location], [303, `${PAGE}?done=ended`])
    assert.equal(shop.atStripe(starter).status, 'canceled')
    const after = await show('?done=ended')
    assert.match(after, /The second subscription is ended.*Nobody pays for two subscriptions/)
    assert.deepEqual(await actions(), [['end_duplicate', starter, `user ${shop.userId}: starter`]])
    const { app, action, detail } = (await auditOf(shop)).at(-1) ?? {}
    assert.deepEqual([app, action, detail], ['dashboard', 'end_duplicate', 'starter'])
  })

  it('keeps both while Stripe is away, and the page says so', async () => {
    const { shop, act, actions } = await open()
    await payTwice(shop)
    shop.double.failCalls({ kind: '500' }, 100)
    const { status, html } = await act('duplicates/end', { user: shop.userId })
    assert.equal(status, 503)
    assert.match(html, /role="alert">Billing is unavailable.*Also pays for starter/)
    assert.deepEqual(await actions(), [])
  })
})
