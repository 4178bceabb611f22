import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { freshly } from '../../support/scene/freshly.ts'
import { DAY, openShop, type Shop, SUBSCRIPTION } from '../shop.ts'

/** A shop that sells a year of Pro in dollars and in euros, and everything else in dollars. */
const openEuroShop = () => openShop({ sellsYearly: true })

const lastInvoice = ({ double }: Shop) => [...double.world.state.tables.invoices.values()].at(-1)

const buyInEuros = (shop: Shop) => shop.buy('pro', { interval: 'year', currency: 'eur' })

describe('a plan sold in several currencies', () => {
  const shop = freshly(openEuroShop)

  it('is charged in the currency that the buyer asks for', async () => {
    const row = await buyInEuros(shop)
    assert.equal(row.currency, 'eur')
    assert.deepEqual([lastInvoice(shop)?.currency, lastInvoice(shop)?.amount_paid], ['eur', 27_000])
    shop.pass(365 * DAY + 2 * 3_600)
    assert.deepEqual([lastInvoice(shop)?.currency, lastInvoice(shop)?.amount_paid], ['eur', 27_000])
  })

  it('leaves the choice to Stripe if the buyer makes none', async () => {
    const row = await shop.buy('pro', { interval: 'year' })
    assert.equal(row.currency, 'usd')
    const create = shop.double.calls().findLast(({ path }) => path === '/v1/checkout/sessions')
    assert.equal(new URLSearchParams(create?.body).has('currency'), false)
  })

  it('is refused in a currency in which it is not sold', async () => {
    const wanted = { planId: 'starter', currency: 'eur' }
    const { status, text } = await shop.send('POST', SUBSCRIPTION, wanted)
    assert.equal(status, 400)
    assert.match(text, /currency: the plan is not sold in eur/)
    assert.equal(
      (await shop.send('POST', SUBSCRIPTION, { ...wanted, currency: 'EUR' })).status,
      400,
    )
  })

  it('is paid in one currency by each account', async () => {
    const { id } = await buyInEuros(shop)
    await shop.stripe.subscriptions.cancel(id)
    await shop.settled()
    const wanted = { planId: 'pro', interval: 'year', currency: 'usd' }
    const { status, text } = await shop.send('POST', SUBSCRIPTION, wanted)
    assert.equal(status, 400)
    assert.match(text, /currency: this account pays in eur/)
    assert.equal((await shop.buy('pro', { interval: 'year' })).currency, 'eur')
  })

  it('keeps its currency in a plan change, and refuses a plan that is not sold in it', async () => {
    await buyInEuros(shop)
    const path = `${SUBSCRIPTION}/preview?planId=starter&interval=month`
    for (const answer of [
      await shop.send('GET', path),
      await shop.send('PUT', SUBSCRIPTION, { planId: 'starter', interval: 'month' }),
    ]) {
      assert.equal(answer.status, 400)
      assert.match(answer.text, /the plan is not sold in eur/)
    }
    assert.equal((await shop.row())?.plan, 'pro')
  })

  it('shows the terms in the currency of the subscription', async () => {
    await buyInEuros(shop)
    await shop.app.services.catalogue.refresh()
    const { body } = await shop.send('GET', `${SUBSCRIPTION}/terms`)
    const known = { interval: 'year', currency: 'eur', amount: 27_000 }
    const terms = { ...known, trialEndsAt: null, cancelAt: null }
    assert.deepEqual(body, terms)
  })

  it('still answers 503 if Stripe refuses for another reason', async () => {
    const wanted = { planId: 'pro', interval: 'year', currency: 'eur' }
    shop.double.world.state.tables.prices.clear()
    assert.equal((await shop.send('POST', SUBSCRIPTION, wanted)).status, 503)
  })
})
