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
    assert.match(html, /<h3>Free<\/h3>.*?<p class="figure">\$0<\/p>/s)
    assert.match(html, /<dt>Requests per minute<\/dt><dd>600</)
    const yearly = await at.visit('/app/billing?interval=year')
    const price = />\$290\.00<span[^>]*> per year<\/span><span[^>]*>or €270\.00<\/span>/
    assert.match(yearly.html, price)
    assert.doesNotMatch(html, price)
  })

  it('has one button for each plan, one of them the main one, and a switch of the interval', async () => {
    await using at = await openBilling({ sellsYearly: true })
    const cards = async (query: string) => {
      const { html } = await at.visit(`/app/billing${query}`)
      const [, list = ''] = /<ul class="tiles sold">(.*)<\/ul><\/section>/s.exec(html) ?? []
      assert.match(html, /<nav class="switch" aria-label="Paid">/)
      return list
        .split('<h3>')
        .slice(1)
        .map((card) => ({
          isCurrent: card.includes(' disabled="">Current plan</button>'),
          interval: /name="interval" value="(\w+)"/.exec(card)?.[1],
          buttons: [...card.matchAll(/<button type="submit"([^>]*)>([^<]+)/g)].map(
            ([, attributes = '', text]) => `${text}${attributes}`,
          ),
        }))
    }
    const free = { isCurrent: true, interval: undefined, buttons: [] }
    const starter = { isCurrent: false, interval: 'month', buttons: ['Subscribe to Starter'] }
    const pro = { isCurrent: false, buttons: ['Subscribe to Pro class="quiet"'] }
    assert.deepEqual(await cards(''), [free, starter, { ...pro, interval: 'month' }])
    const byYear = { ...pro, interval: 'year' }
    // Starter is sold by the month alone.
    assert.deepEqual(await cards('?interval=year'), [free, starter, byYear])
  })

  it('has no switch where no plan is sold by the year', async () => {
    await using at = await openBilling()
    assert.doesNotMatch((await at.visit('/app/billing')).html, /class="switch"/)
  })

  it('sells a plan by the year, and changes it to the month', async () => {
    await using at = await openBilling({ sellsYearly: true })
    const html = await at.subscribe({ plan: 'pro', interval: 'year' })
    assert.match(html, /\$290\.00 per year/)
    assert.doesNotMatch(html, /Pay by the/)
    assert.match((await at.visit('/app/billing?interval=month')).html, /Pay by the month/)
    const change = await at.visit('/app/billing/change?plan=pro&interval=month')
    assert.match(change.html, /From Pro to Pro, paid by the month/)
    assert.match(change.html, /name="interval" value="month"/)
    const form = { plan: 'pro', interval: 'month' }
    assert.equal((await at.visit('/app/billing/change', form)).status, 303)
    assert.match((await at.visit('/app/billing?interval=year')).html, /Pay by the year/)
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
    assert.match(html, /goes on until <time[^>]*>29 Jan<\/time>; then \$29\.00 per month/)
  })

  it('shows a subscriber the prices in the currency of the subscription, and no others', async () => {
    await using at = await openBilling({ sellsYearly: true })
    await at.subscribe({ plan: 'pro', interval: 'year' })
    await write(at.shop.app, "UPDATE subscriptions SET currency = 'eur'")
    const { html } = await at.visit('/app/billing')
    assert.match(html, /€270\.00<span class="soft per"> per year/)
    assert.match(html, /<p class="figure">€0<\/p>/)
    assert.doesNotMatch(html, /\$290\.00|Change to Starter|class="switch"/)
    assert.match(html, /Not available in EUR/)
    assert.doesNotMatch((await at.visit('/app/billing?interval=month')).html, /Pay by the month/)
  })

  it('says when a trial ends, and what is charged then', async () => {
    const pro = { id: 'pro', name: 'Pro', monthlyCap: 9, maxKeys: 1, maxSites: 1, price: 29 }
    const plans = [{ ...pro, requestsPerMinute: 9, trialDays: 14 }]
    await using at = await openBilling({ env: { MERIDIAN_PLANS: plansFileOf(plans) } })
    assert.match((await at.visit('/app/billing')).html, /First 14 days free, once/)
    const html = await at.subscribe({ plan: 'pro' })
    assert.doesNotMatch(html, /First 14 days free/)
    assert.match(html, /Your plan <span class="badges"><span class="badge good">Trial<\/span>/)
    assert.match(html, /29 Jan<\/time>; then \$29\.00 is charged/)
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
