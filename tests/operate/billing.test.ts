import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { auditOf, openShop, type Shop, type ShopOptions } from '../billing/shop.ts'
import { write } from '../support/database/sql.ts'
import { makeApp } from '../support/helpers.ts'
import { closedAfterTest } from '../support/scene/freshly.ts'
import { actionsOf } from './operator.ts'

const closed = closedAfterTest()

const PAGE = '/app/operate/billing'

/** A service that sells, and what its operator does on the page. */
async function open(options?: ShopOptions) {
  const shop = closed(await openShop(options))
  const olga = shop.app.operator('olga')
  const { comparison } = shop.app.services.operatorJobs
  const act = (name: string) => olga.submit(`${PAGE}/${name}`)
  const show = async () => (await olga.visit(PAGE)).html
  return {
    shop,
    act,
    show,
    /** Compares or repairs. Returns the page that shows the result. */
    run: async (name: 'compare' | 'repair') => {
      const { status, location } = await act(name)
      assert.deepEqual([status, location], [303, PAGE])
      await comparison.settled()
      return show()
    },
    actions: async () =>
      (await actionsOf(shop.app)).map(({ action, target, detail }) => [action, target, detail]),
  }
}

/** Ends the subscription at Stripe without an event. */
async function endUnnoticed(shop: Shop): Promise<void> {
  const { id } = await shop.buy('pro')
  shop.double.switchDeliveries('drop', 100)
  await shop.stripe.subscriptions.cancel(id)
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
    assert.deepEqual(await actionsOf(app), [])
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
    await endUnnoticed(shop)
    const found = await run('compare')
    assert.match(found, /<h3>pro here, no plan at Stripe<\/h3><span class="badge near">outdated/)
    assert.equal((await shop.row())?.plan, 'pro')
    assert.match(await run('repair'), /1 mismatch repaired.*The database agrees/)
    assert.equal(await shop.row(), null)
    assert.deepEqual((await actions()).slice(1), [['compare_billing', null, 'repair']])
    const { app, action } = (await auditOf(shop)).at(-1) ?? {}
    assert.deepEqual([app, action], ['stripe', 'subscription_ended'])
  })

  it('assigns a customer that the database lacks', async () => {
    const { shop, run } = await open()
    await shop.buy('pro')
    await write(shop.app, 'DELETE FROM billing_customers')
    assert.match(await run('compare'), /unassigned-customer/)
    assert.equal(await shop.row(), null)
    assert.match(await run('repair'), /1 mismatch repaired.*The database agrees/)
    assert.equal((await shop.row())?.plan, 'pro')
  })

  it('shows what the operator has to repair elsewhere', async () => {
    const { shop, run } = await open()
    const { id } = await shop.buy('pro')
    shop.double.world.state.tables.customers.delete(String(shop.atStripe(id).customer))
    shop.double.world.state.tables.subscriptions.delete(id)
    const html = await run('compare')
    assert.match(html, /badge error">missing-customer.*check STRIPE_SECRET_KEY/)
    assert.doesNotMatch(html, /Repair…/)
  })

  it('says why a comparison failed: Stripe is away', async () => {
    const { shop, run } = await open()
    await shop.buy('pro')
    shop.double.failCalls({ kind: '500' }, 100)
    assert.match(await run('compare'), /role="alert">Failed .*: Billing is unavailable/)
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
