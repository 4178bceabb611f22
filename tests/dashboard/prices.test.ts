import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openShop, type Shop, type ShopOptions } from '../billing/shop.ts'
import { write } from '../support/database/sql.ts'
import { plansFileOf } from '../support/plans-file.ts'
import type { PageOptions } from '../support/scene/pages.ts'

/** Signs in a user of a shop that has read its prices. */
async function openBilling(options?: ShopOptions) {
  const shop: Shop = await openShop(options)
  await shop.app.services.catalogue.refresh()
  const grace = shop.app.user('grace')
  await grace.enter()
  const visit = (path: string, form?: PageOptions['form']) =>
    form === undefined ? grace.visit(path) : grace.submit(path, form)
  const subscribe = async (form: Readonly<Record<string, string>>, entry: object = {}) => {
    await visit('/app/billing/checkout', form)
    const [session] = [...shop.double.world.state.tables.sessions.values()].slice(-1)
    shop.double.payCheckout(session?.id ?? '', { card: 'pm_card_visa', ...entry })
    await shop.settled()
    return (await visit('/app/billing')).html
  }
  return { shop, visit, subscribe, [Symbol.asyncDispose]: () => shop[Symbol.asyncDispose]() }
}

describe('the billing page', () => {
  it('shows what each plan costs, with currency and interval, and its requests per minute', async () => {
    await using at = await openBilling({ sellsYearly: true })
    const { html } = await at.visit('/app/billing')
    assert.match(html, /\$29\.00<span class="soft per"> per month<\/span>/)
    assert.match(html, /\$290\.00 or €270\.00<span class="soft per"> per year<\/span>/)
    assert.match(html, /<li>600 per minute<\/li>/)
    assert.match(html, /Subscribe to Pro, by the month.*Subscribe to Pro, by the year/s)
    assert.match(html, /Subscribe to Starter</)
  })

  it('sells a plan by the year, and changes it to the month', async () => {
    await using at = await openBilling({ sellsYearly: true })
    const html = await at.subscribe({ plan: 'pro', interval: 'year' })
    assert.match(html, /\$290\.00 per year/)
    assert.match(html, /Pay by the month/)
    const change = await at.visit('/app/billing/change?plan=pro&interval=month')
    assert.match(change.html, /From Pro to Pro, paid by the month/)
    assert.match(change.html, /name="interval" value="month"/)
    const form = { plan: 'pro', interval: 'month' }
    assert.equal((await at.visit('/app/billing/change', form)).status, 303)
    assert.match((await at.visit('/app/billing')).html, /Pay by the year/)
  })

  it('says what the new plan costs from the next period on', async () => {
    await using at = await openBilling({ sellsYearly: true })
    await at.subscribe({ plan: 'starter', interval: 'month' })
    const change = async (query: string) => (await at.visit(`/app/billing/change?${query}`)).html
    assert.match(await change('plan=pro'), /Then \$29\.00 per month, plus tax if any, less disc/)
    assert.match(await change('plan=pro&interval=year'), /Then \$290\.00 per year/)
  })

  it('says that a trial goes on after a change, and what is charged then', async () => {
    const limits = { monthlyCap: 9, maxKeys: 1, maxSites: 1, requestsPerMinute: 9, trialDays: 14 }
    const plans = [
      { id: 'starter', name: 'Starter', price: 9, ...limits },
      { id: 'pro', name: 'Pro', price: 29, ...limits },
    ]
    await using at = await openBilling({ env: { MERIDIAN_PLANS: plansFileOf(plans) } })
    await at.subscribe({ plan: 'starter' })
    const { html } = await at.visit('/app/billing/change?plan=pro')
    assert.match(html, /goes on until <time[^>]*>2026-01-29<\/time>; then \$29\.00 per month/)
  })

  it('shows a subscriber the prices in the currency of the subscription, and no others', async () => {
    await using at = await openBilling({ sellsYearly: true })
    await at.subscribe({ plan: 'pro', interval: 'year' })
    await write(at.shop.app, "UPDATE subscriptions SET currency = 'eur'")
    const { html } = await at.visit('/app/billing')
    assert.match(html, /€270\.00<span class="soft per"> per year/)
    assert.doesNotMatch(html, /\$290\.00|Pay by the month|Change to Starter/)
    assert.match(html, /Not available in EUR/)
  })

  it('says when a trial ends, and what is charged then', async () => {
    const pro = { id: 'pro', name: 'Pro', monthlyCap: 9, maxKeys: 1, maxSites: 1, price: 29 }
    const plans = [{ ...pro, requestsPerMinute: 9, trialDays: 14 }]
    await using at = await openBilling({ env: { MERIDIAN_PLANS: plansFileOf(plans) } })
    assert.match((await at.visit('/app/billing')).html, /First 14 days free, once/)
    const html = await at.subscribe({ plan: 'pro' })
    assert.doesNotMatch(html, /First 14 days free/)
    assert.match(html, /2026-01-29<\/time>; then \$29\.00 is charged/)
    await at.visit('/app/billing/cancel', {})
    assert.match((await at.visit('/app/billing')).html, /<\/time>; nothing will be charged/)
  })

  it('says that a change was not made if its payment was not confirmed in time', async () => {
    await using at = await openBilling()
    await at.subscribe({ plan: 'starter' })
    const { double, stripe } = at.shop
    const [row] = double.world.state.tables.subscriptions.values()
    const [id, customer] = [row?.id ?? '', String(row?.customer)]
    const asks = await stripe.paymentMethods.attach('pm_card_authenticationRequired', { customer })
    await stripe.subscriptions.update(id, { default_payment_method: asks.id })
    const change = await at.visit('/app/billing/change', { plan: 'pro' })
    assert.match(change.html, /Your bank asks you to confirm/)
    const notice = /Your change to Pro, paid by the month, was not made/
    assert.doesNotMatch((await at.visit('/app/billing')).html, notice)
    at.shop.pass(23 * 3_600)
    await at.shop.settled()
    assert.match((await at.visit('/app/billing')).html, notice)
  })

  it('shows the tax of a change', async () => {
    await using at = await openBilling({ env: { STRIPE_TAX: 'automatic' } })
    await at.subscribe({ plan: 'starter' }, { address: { country: 'GB' } })
    const change = await at.visit('/app/billing/change?plan=pro')
    assert.match(change.html, /<th scope="row">Tax<\/th><td class="number">\$4\.00<\/td>/)
    assert.match(change.html, /Change and pay \$24\.00/)
  })
})
