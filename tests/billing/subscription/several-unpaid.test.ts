import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { codeOf } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { CAP } from '../overages/overages.ts'
import { invoicesOf, openWithUsage, UNITS } from '../overages/with-usage.ts'
import { DAY, type Shop, SUBSCRIPTION } from '../shop.ts'

/*
 * Payments are tried again for "1 week, 2 weeks, 3 weeks, 1 month, or 2 months"
 * (https://docs.stripe.com/payments/off-session-payments/smart-retries): several renewals may be open.
 */
const TWO_MONTHS = [7, 7, 7, 7, 8, 8, 8, 8]

/** Pro, with requests over the cap in the first period, whose two renewals have failed. */
async function openOwing() {
  const shop = await openWithUsage()
  await shop.app.services.overages.reportAll(shop.userId)
  shop.double.setDunning({ retryDays: TWO_MONTHS })
  const customer = String(shop.atStripe(shop.id).customer)
  const { stripe } = shop
  const card = await stripe.paymentMethods.attach('pm_card_chargeCustomerFail', { customer })
  await stripe.subscriptions.update(shop.id, { default_payment_method: card.id })
  shop.pass(60 * DAY)
  await shop.settled()
  return shop
}

const totals = (shop: Shop) => invoicesOf(shop).map(([status, due]) => `${status} ${due}`)

const OWED = ['paid 2900', 'open 3000', 'open 2900']

async function setCard({ stripe, send, settled }: Shop) {
  const { id } = await stripe.paymentMethods.create({ type: 'card', card: { token: 'tok_visa' } })
  const answer = await send('POST', '/v1/billing/payment-method', { paymentMethodId: id })
  await settled()
  return answer
}

describe('a subscription that owes two renewals', () => {
  const shop = freshly(openOwing)

  it('is past due with its plan, but without overages or a change of the plan', async () => {
    assert.deepEqual(totals(shop), OWED)
    const row = await shop.row()
    assert.deepEqual([row?.plan, row?.status], ['pro', 'past_due'])
    for (let n = 0; n < 2 * CAP; n += 1) await shop.send('GET', '/v1/ip/81.2.69.160')
    await shop.app.services.overages.reportAll(shop.userId)
    const sent = [...shop.double.world.state.meterEvents.values()].map(({ value }) => value)
    assert.deepEqual(sent, [UNITS])
    const refused = await shop.send('PUT', SUBSCRIPTION, { planId: 'starter' })
    assert.equal(codeOf(refused), 'PAYMENT_FAILED')
  })

  it('is paid in full by a new card, and goes on', async () => {
    assert.equal((await setCard(shop)).status, 200)
    assert.deepEqual(
      totals(shop),
      OWED.map((invoice) => invoice.replace('open', 'paid')),
    )
    assert.equal((await shop.row())?.status, 'active')
    shop.pass(29 * DAY)
    await shop.settled()
    assert.equal((await shop.row())?.status, 'active')
  })

  it('still owes the older one after the newer is paid at its page, and says so', async () => {
    const [, newest] = [...shop.double.world.state.tables.invoices.values()].filter(
      ({ status }) => status === 'open',
    )
    const customer = String(newest?.customer)
    const { id: payment_method } = await shop.stripe.paymentMethods.attach('pm_card_visa', {
      customer,
    })
    await shop.stripe.invoices.pay(newest?.id ?? '', { payment_method })
    await shop.settled()
    assert.equal((await shop.row())?.status, 'active')
    const refused = await shop.send('PUT', SUBSCRIPTION, { planId: 'starter' })
    assert.equal(codeOf(refused), 'PAYMENT_FAILED')
    assert.equal((await setCard(shop)).status, 200)
    const change = await shop.send('PUT', SUBSCRIPTION, { planId: 'starter' })
    assert.equal(change.status, 200, change.text)
  })

  it('ends after two months; Stripe goes on collecting only what has requests over the cap', async () => {
    shop.pass(32 * DAY)
    await shop.settled()
    assert.equal(await shop.row(), null)
    const { key } = shop
    assert.match((await shop.app.send('GET', SUBSCRIPTION, { key })).text, /"subscription":null/)
    await shop.buy('starter')
    await shop.app.services.reconciliation.run()
    const [, withUnits, ...fees] = [...shop.double.world.state.tables.invoices.values()]
    assert.deepEqual([withUnits?.status, withUnits?.auto_advance], ['open', true])
    assert.deepEqual(
      fees.map(({ status }) => status),
      ['void', 'void', 'paid'],
    )
    assert.equal((await shop.row())?.plan, 'starter')
  })
})
