import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DAY, methodOf, openShop, type Shop } from '../billing/shop.ts'
import { makeApp } from '../support/helpers.ts'
import { freshly } from '../support/scene/freshly.ts'
import type { PageOptions } from '../support/scene/pages.ts'

/** Signs in a user of a service that sells through the Stripe double. */
async function openBilling(shop: Shop) {
  const grace = shop.app.user('grace')
  await grace.enter()
  const visit = (path: string, form?: PageOptions['form']) =>
    form === undefined ? grace.visit(path) : grace.submit(path, form)
  const subscribe = async (plan: string) => {
    const { html } = await visit('/app/billing/checkout', { plan })
    const url = /href="(http:[^"]+)" data-follow/.exec(html)?.[1] ?? ''
    const body = new URLSearchParams({ card: '4242 4242 4242 4242', name: 'Grace' })
    const paid = await fetch(url, { method: 'POST', body, redirect: 'manual' })
    await shop.settled()
    return paid.headers.get('location') ?? ''
  }
  /** The page of the portal, also after a form of it was sent. */
  const portal = async (change = '', entry: Readonly<Record<string, string>> = {}) => {
    const { html } = await visit('/app/billing/portal', {})
    const url = /href="(http:[^"]+)" data-follow/.exec(html)?.[1] ?? ''
    const form = { method: 'POST', body: new URLSearchParams(entry) }
    const shown = await (change === '' ? fetch(url) : fetch(`${url}/${change}`, form))
    await shop.settled()
    return shown.text()
  }
  return { visit, subscribe, portal }
}

/** Makes a card with this test token the one that pays the only subscription. */
async function setCard({ double, stripe, settled }: Shop, token: string): Promise<void> {
  const [subscription] = double.world.state.tables.subscriptions.values()
  const customer = String(subscription?.customer)
  const { id } = await stripe.paymentMethods.attach(token, { customer })
  await stripe.subscriptions.update(subscription?.id ?? '', { default_payment_method: id })
  await settled()
}

describe('the billing pages', () => {
  const shop = freshly(openShop)

  it('lead to the payment page, and from there back to the purchased plan', async () => {
    const { visit, subscribe } = await openBilling(shop)
    assert.match((await visit('/app/billing')).html, /Subscribe to Starter/)
    const back = new URL(await subscribe('starter'))
    assert.equal(back.pathname, '/app/billing')
    const { html } = await visit(`${back.pathname}${back.search}`)
    // In the part that the waiting page refreshes, and without a further refresh.
    assert.match(html, /<div id="paid">.*Your plan is active/)
    assert.match(html, /Change to Pro/)
  })

  it('show the plan on return, although the events are lost', async () => {
    const { visit, subscribe } = await openBilling(shop)
    shop.double.switchDeliveries('drop', 100)
    const back = new URL(await subscribe('starter'))
    assert.match((await visit('/app/billing')).html, /Subscribe to Starter/)
    const { html } = await visit(`${back.pathname}${back.search}`)
    assert.match(html, /<div id="paid">.*Your plan is active/)
    assert.match(html, /Change to Pro/)
  })

  it('wait on return while Stripe fails, and then show the plan', async () => {
    const { visit, subscribe } = await openBilling(shop)
    shop.double.switchDeliveries('drop', 100)
    const back = new URL(await subscribe('starter'))
    const page = `${back.pathname}${back.search}`
    shop.double.failCalls({ kind: '500' })
    const waiting = await visit(page)
    assert.equal(waiting.status, 200)
    for (const id of ['paid', 'subscription']) {
      assert.match(waiting.html, new RegExp(`<div id="${id}"[^>]* data-refresh="3">`))
    }
    shop.pass(3)
    assert.match((await visit(page)).html, /Your plan is active/)
  })

  it('wait for the confirmation when the buyer returns before it arrives', async () => {
    const { visit } = await openBilling(shop)
    const { html } = await visit('/app/billing?checkout=done')
    assert.match(html, /data-refresh="\d+"/)
    assert.match(html, /as soon as the payment is confirmed/)
  })

  it('charge the amount shown for a change of plan', async () => {
    const { visit, subscribe, portal } = await openBilling(shop)
    await subscribe('starter')
    const { html } = await visit('/app/billing/change?plan=pro')
    assert.match(html, /Change and pay \$20\.00/)
    assert.equal((await visit('/app/billing/change', { plan: 'pro' })).status, 303)
    await shop.settled()
    assert.match(await portal(), /2026-01-15 paid, \$20\.00 due, \$20\.00 paid/)
  })

  it('lead to the page on which to confirm a change of plan', async () => {
    const { visit, subscribe } = await openBilling(shop)
    await subscribe('starter')
    await setCard(shop, 'pm_card_authenticationRequired')
    const { status, html } = await visit('/app/billing/change', { plan: 'pro' })
    assert.equal(status, 200)
    assert.match(html, /Your bank asks you to confirm the payment/)
    const url = /href="(http:[^"]+)" data-follow/.exec(html)?.[1] ?? ''
    await fetch(url, { method: 'POST', body: new URLSearchParams({ authentication: 'confirmed' }) })
    await shop.settled()
    assert.match((await visit('/app/billing')).html, /<p class="figure">Pro<\/p>/)
  })

  it('link to the open invoice while a payment is missing', async () => {
    shop.double.setDunning({ end: 'unpaid' })
    const { visit, subscribe } = await openBilling(shop)
    await subscribe('pro')
    assert.doesNotMatch((await visit('/app/billing')).html, /Pay or confirm at Stripe/)
    await setCard(shop, 'pm_card_authenticationRequired')
    shop.pass(31 * DAY + 3_600)
    await shop.settled()
    const { html } = await visit('/app/billing')
    const text = /Your last payment failed, or your bank asks/
    assert.match(html, text)
    assert.match(html, /Your plan <span class="badges"><span class="badge error">Past due<\/span>/)
    assert.match(html, /<a href="http:[^"]+\/i\/in_\w+"[^>]*>Pay or confirm at Stripe/)
    shop.double.failCalls({ kind: '500' })
    assert.match((await visit('/app/billing')).html, text)
    shop.double.clearFaults()
    shop.pass(16 * DAY)
    await shop.settled()
    const ended = (await visit('/app/billing')).html
    assert.match(ended, /No subscription. You are not charged/)
    assert.doesNotMatch(ended, /Pay or confirm at Stripe/)
    assert.match(ended, /action="[^"]*\/app\/billing\/checkout"/)
  })

  it('link to the newest open invoice, which makes the plan active again', async () => {
    const { visit, subscribe } = await openBilling(shop)
    await subscribe('pro')
    const [bought] = shop.double.world.state.tables.subscriptions.values()
    await setCard(shop, 'pm_card_chargeCustomerFail')
    const failing = methodOf(shop, bought?.id ?? '')
    await shop.stripe.subscriptions.create({
      customer: String(bought?.customer),
      items: [{ price: shop.prices.starter }],
      default_payment_method: failing,
      metadata: { sold_by: 'somebody else' },
    })
    shop.pass(31 * DAY + 3_600)
    await shop.settled()
    const renewals = await shop.stripe.invoices.list({ subscription: bought?.id ?? '' })
    const { html } = await visit('/app/billing')
    const [, linked] =
      /<a href="http:[^"]+\/i\/(in_\w+)"[^>]*>Pay or confirm at Stripe/.exec(html) ?? []
    assert.equal(linked, renewals.data[0]?.id)
  })

  it('show the next renewal, and the end that the operator scheduled for after it', async () => {
    const { visit, subscribe } = await openBilling(shop)
    await subscribe('pro')
    const [bought] = shop.double.world.state.tables.subscriptions.values()
    const at = shop.double.now() + 100 * DAY
    await shop.stripe.subscriptions.update(bought?.id ?? '', { cancel_at: at })
    await shop.settled()
    const { html } = await visit('/app/billing')
    const time = (day: string) => `<dd><time datetime="${day}T12:00:00.000Z"`
    assert.match(html, new RegExp(`Renews</dt>${time('2026-02-15')}`))
    assert.match(html, new RegExp(`Ends</dt>${time('2026-04-25')}`))
  })

  it('say why a change of plan is refused', async () => {
    const { visit, subscribe } = await openBilling(shop)
    await subscribe('pro')
    await setCard(shop, 'pm_card_chargeCustomerFail')
    shop.pass(31 * DAY + 3_600)
    await shop.settled()
    const { html } = await visit('/app/billing/change?plan=starter')
    assert.match(html, /Pay the open invoice before you change the plan/)
    assert.match(html, /Pay or confirm at Stripe/)
  })

  it('cancel and reactivate a subscription', async () => {
    const { visit, subscribe } = await openBilling(shop)
    await subscribe('pro')
    const after = async (path: string, form: PageOptions['form'] = {}) => {
      const { location } = await visit(path, form)
      await shop.settled()
      return (await visit(location ?? '')).html
    }
    assert.match(await after('/app/billing/cancel'), /active until the period ends/)
    assert.match(await after('/app/billing/reactivate'), /Cancel at the end of the period/)
  })

  it('lead to the portal, which has card, address, tax IDs and invoices', async () => {
    const { visit, subscribe, portal } = await openBilling(shop)
    assert.doesNotMatch((await visit('/app/billing')).html, /Open the customer portal/)
    await subscribe('starter')
    assert.match((await visit('/app/billing')).html, /Open the customer portal/)
    assert.match(await portal(), /visa ending in 4242.*No address.*2026-01-15 paid, \$9\.00 due/s)
    const refused = await portal('card', { card: '4000 0000 0000 0002' })
    assert.match(refused, /Your card was declined.*visa ending in 4242/s)
    assert.match(await portal('card', { card: '5555 5555 5555 4444' }), /mastercard ending in 4444/)
    const address = { line1: '1 <b>Street</b>', postal_code: 'N1 1AA', country: 'gb' }
    assert.match(await portal('address', address), /1 &lt;b&gt;Street&lt;\/b&gt;, N1 1AA, GB/)
    assert.match(await portal('tax-id', { type: 'eu_vat', value: 'DE123456789' }), /eu_vat DE1234/)
    const [subscription] = shop.double.world.state.tables.subscriptions.values()
    const customer = await shop.stripe.customers.retrieve(String(subscription?.customer))
    assert.ok(!customer.deleted)
    assert.equal(subscription?.default_payment_method, null)
    assert.equal(customer.address?.country, 'GB')
  })

  it('show limits without prices when nothing is sold, and operators the way to another plan', async () => {
    await using app = await makeApp()
    const ada = app.user('ada')
    const { status, html } = await ada.visit('/app/billing')
    assert.equal(status, 200)
    assert.match(html, /Ask those who run this service for another plan/)
    assert.match(html, /<ul class="tiles">.*<dt>Requests per month<\/dt><dd>100,000</)
    assert.doesNotMatch(html, /\$\d|not charged|Not available|app\/operate/)
    const olga = app.operator('olga')
    const [, path = ''] =
      /href="(\/app\/operate\/people\/[^"]+)"/.exec((await olga.visit('/app/billing')).html) ?? []
    assert.match((await olga.visit(path)).html, /olga@example\.com/)
    const tried = await ada.submit('/app/billing/checkout', { plan: 'pro' })
    assert.equal(tried.status, 503)
    assert.match(tried.html, /role="alert"/)
  })
})
