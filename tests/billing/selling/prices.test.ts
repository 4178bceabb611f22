import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newSecretKey } from '../../../stripe-double/ids.ts'
import { makeApp } from '../../support/helpers.ts'
import { plansFileOf } from '../../support/plans-file.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { visitPage } from '../../support/scene/pages.ts'
import { openShop, type Shop } from '../shop.ts'

const PRICES = '/v1/billing/prices'

async function addYearly({ stripe }: Shop) {
  const { id } = await stripe.prices.create({
    currency: 'usd',
    unit_amount: 29_000,
    currency_options: { eur: { unit_amount: 27_000 } },
    recurring: { interval: 'year' },
    product_data: { name: 'Pro' },
  })
  return id
}

async function home({ app }: Pick<Shop, 'app'>): Promise<string> {
  return (await visitPage(app, '/')).html
}

describe('GET /v1/billing/prices', () => {
  const shop = freshly(openShop)

  it('lists the prices as Stripe has them, with all their currencies', async () => {
    const yearly = await addYearly(shop)
    const app = await shop.app.restart({ STRIPE_PRICE_PRO_YEARLY: yearly })
    await app.services.catalogue.refresh()
    const { status, body } = await app.send('GET', PRICES)
    assert.equal(status, 200)
    const price = { id: shop.prices.pro, interval: 'month', currency: 'usd', amount: 2900 }
    const byYear = { id: yearly, interval: 'year', currency: 'usd', amount: 29_000 }
    assert.deepEqual(body, [
      { planId: 'free', requestsPerMinute: 10, prices: [] },
      {
        planId: 'starter',
        currency: 'usd',
        requestsPerMinute: 120,
        prices: [{ ...price, id: shop.prices.starter, amount: 900, currencies: [] }],
      },
      {
        planId: 'pro',
        currency: 'usd',
        requestsPerMinute: 600,
        prices: [
          { ...price, currencies: [] },
          { ...byYear, currencies: [{ currency: 'eur', amount: 27_000 }] },
        ],
      },
    ])
    await app.close()
  })

  it('answers without asking Stripe, and keeps what it has if Stripe does not answer', async () => {
    const { catalogue } = shop.app.services
    assert.deepEqual(
      catalogue.list().map(({ prices }) => prices),
      [[], [], []],
    )
    await catalogue.refresh()
    const known = catalogue.list()
    shop.newCalls()
    shop.double.failCalls({ kind: '500' }, 10)
    await assert.rejects(catalogue.refresh())
    assert.equal(catalogue.list(), known)
    shop.double.clearFaults()
    shop.newCalls()
    assert.equal((await shop.app.send('GET', PRICES)).status, 200)
    assert.deepEqual(shop.newCalls(), [])
  })

  it('needs no key, and leaves the list of plans as it was', async () => {
    await shop.app.services.catalogue.refresh()
    const { body } = await shop.app.send('GET', '/v1/billing/plans')
    assert.ok(Array.isArray(body))
    assert.deepEqual(Object.keys(body[2]), [
      'id',
      'name',
      'monthlyCap',
      'maxKeys',
      'maxSites',
      'price',
      'stripePriceId',
    ])
  })
})

const LIMITS = { monthlyCap: 9, maxKeys: 1, maxSites: 1, requestsPerMinute: 7 }

/** The plans that have a button, with the page that each leads to. */
function buttons(html: string) {
  const links = html.matchAll(/href="\/app\/([^"]*)">Choose ([^<]*)</g)
  return [...links].map(([, to, plan]) => [plan, to])
}

describe('the landing page', () => {
  it('shows the prices of Stripe with currency and interval', async () => {
    await using shop = await openShop()
    assert.match(
      await home(shop),
      /<p class="figure">\$29<span class="soft per"> per month<\/span><\/p>/,
    )
    await shop.app.services.catalogue.refresh()
    assert.match(await home(shop), /<h3>Free<\/h3><div><p class="figure">\$0<\/p>/)
    assert.match(
      await home(shop),
      /<p class="figure">\$29\.00<span class="soft per"> per month<\/span><\/p>.*?<dd>100,000<\/dd>.*?<dd>600<\/dd>/,
    )
  })

  it('has a button for each plan that a visitor can get', async () => {
    await using shop = await openShop()
    const paid = [
      ['Starter', 'billing'],
      ['Pro', 'billing'],
    ]
    assert.deepEqual(buttons(await home(shop)), [['Free', 'sign-up'], ...paid])
    await using closed = await shop.app.restart({ MERIDIAN_SIGN_UP: 'closed' })
    assert.deepEqual(buttons(await home({ app: closed })), paid)
  })

  it('offers no plan that only an operator gives, even if it costs nothing', async () => {
    await using app = await makeApp({
      env: {
        STRIPE_SECRET_KEY: newSecretKey(),
        STRIPE_PRICE_PRO: 'price_1',
        MERIDIAN_PLANS: plansFileOf([
          { id: 'community', name: 'Community', ...LIMITS, price: 0 },
          { id: 'pro', name: 'Pro', ...LIMITS, price: 5 },
        ]),
      },
    })
    assert.deepEqual(buttons(await home({ app })), [
      ['free', 'sign-up'],
      ['Pro', 'billing'],
    ])
  })

  it('shows the prices of the plans file, with their currency if it has one, until those of Stripe are read', async () => {
    await using app = await makeApp({
      env: {
        STRIPE_SECRET_KEY: newSecretKey(),
        STRIPE_PRICE_PLAIN: 'price_1',
        MERIDIAN_PLANS: plansFileOf([
          { id: 'plain', name: 'Plain', ...LIMITS, price: 5 },
          { id: 'euro', name: 'Euro', ...LIMITS, price: 12.5, currency: 'eur' },
        ]),
      },
    })
    const html = await home({ app })
    assert.match(html, /<p class="figure">5<span class="soft per"> per month<\/span><\/p>/)
    assert.match(html, /<p class="figure">€12\.50<span class="soft per"> per month<\/span><\/p>/)
    assert.match(html, />Choose Plain</)
    assert.doesNotMatch(html, />Choose Euro</)
  })
})
