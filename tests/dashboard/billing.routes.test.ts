import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openShop, type Shop } from '../billing/shop.ts'
import { ask, enter, type PageOptions } from '../dashboard.ts'
import { makeApp } from '../helpers.ts'

/** A user with a cookie beside a Stripe double. */
async function openCounter(shop: Shop) {
  const cookie = await enter(shop.app, 'grace@example.com')
  const visit = (path: string, form?: PageOptions['form']) =>
    ask(shop.app, path, { cookie, ...(form !== undefined && { form }) })
  const subscribe = async (plan: string) => {
    const { html } = await visit('/app/billing/checkout', { plan })
    const url = /href="(http:[^"]+)" data-follow/.exec(html)?.[1] ?? ''
    const body = new URLSearchParams({ card: '4242 4242 4242 4242', name: 'Grace' })
    const paid = await fetch(url, { method: 'POST', body, redirect: 'manual' })
    await shop.settled()
    return paid.headers.get('location') ?? ''
  }
  return { visit, subscribe }
}

describe('the page of billing', () => {
  it('leads to the page of the payment, which leads back to the plan that was bought', async () => {
    await using shop = await openShop()
    const { visit, subscribe } = await openCounter(shop)
    assert.match((await visit('/app/billing')).html, /Subscribe to Starter/)
    const back = new URL(await subscribe('starter'))
    assert.equal(back.pathname, '/app/billing')
    const { html } = await visit(`${back.pathname}${back.search}`)
    assert.match(html, /The plan is in effect/)
    assert.match(html, /Change to Pro/)
  })

  it('waits for the confirmation of a payment, which may come after the buyer', async () => {
    await using shop = await openShop()
    const { visit } = await openCounter(shop)
    const { html } = await visit('/app/billing?checkout=done')
    assert.match(html, /data-refresh="\d+"/)
    assert.match(html, /as soon as the payment is confirmed/)
  })

  it('charges for a change of plan what it has shown', async () => {
    await using shop = await openShop()
    const { visit, subscribe } = await openCounter(shop)
    await subscribe('starter')
    const { html } = await visit('/app/billing/change?plan=pro')
    assert.match(html, /Change and pay \$20\.00/)
    assert.equal((await visit('/app/billing/change', { plan: 'pro' })).status, 303)
    await shop.settled()
    const invoices = await visit('/app/billing/invoices')
    assert.match(invoices.html, /\$20\.00/)
    assert.match(invoices.html, /visa ending in 4242/)
  })

  it('cancels, takes that back, and turns overages on and off', async () => {
    await using shop = await openShop()
    const { visit, subscribe } = await openCounter(shop)
    await subscribe('pro')
    const after = async (path: string, form: PageOptions['form'] = {}) => {
      const { location } = await visit(path, form)
      await shop.settled()
      return (await visit(location ?? '')).html
    }
    assert.match(await after('/app/billing/overages', { overages: 'on' }), /Stop overages/)
    assert.match(await after('/app/billing/overages', { overages: 'off' }), /Allow overages/)
    assert.match(await after('/app/billing/cancel'), /in effect until the period ends/)
    assert.match(await after('/app/billing/reactivate'), /Cancel at the end of the period/)
  })

  it('keeps what stands on invoices', async () => {
    await using shop = await openShop()
    const { visit, subscribe } = await openCounter(shop)
    assert.match((await visit('/app/billing/invoices')).html, /Nothing bought yet/)
    await subscribe('starter')
    const address = { line1: '1 <b>Street</b>', city: 'London', country: 'gb', state: '' }
    const { location } = await visit('/app/billing/address', address)
    const { html } = await visit(location ?? '')
    assert.match(html, /value="1 &lt;b&gt;Street&lt;\/b&gt;"/)
    assert.match(html, /value="GB"/)
    const taxId = { type: 'eu_vat', value: 'DE123456789' }
    const added = await visit((await visit('/app/billing/tax-ids', taxId)).location ?? '')
    const path = /\/app\/billing\/tax-ids\/[^/]+\/remove/.exec(added.html)?.[0] ?? ''
    assert.equal((await visit(path, {})).status, 303)
    const refused = await visit('/app/billing/promo', { code: 'NOPE' })
    assert.ok(refused.status >= 400 && refused.status < 500)
    assert.match(refused.html, /role="alert"/)
  })

  it('says what cannot be done where nothing is sold', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    const { status, html } = await ask(app, '/app/billing', { cookie })
    assert.equal(status, 200)
    assert.match(html, /Not for sale here/)
    const tried = await ask(app, '/app/billing/checkout', { cookie, form: { plan: 'pro' } })
    assert.equal(tried.status, 503)
    assert.match(tried.html, /role="alert"/)
  })
})
