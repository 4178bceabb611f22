import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { codeOf } from '../../support/helpers.ts'
import { CAP, overagePlans } from '../overages/overages.ts'
import { DAY, openShop, type Shop, SUBSCRIPTION } from '../shop.ts'

/** Buys Pro on 15 January, and lets the renewal on 15 February fail. */
async function openPastDue(): Promise<Shop> {
  const shop = await openShop()
  const { id } = await shop.buy('pro')
  await useFailingCard(shop, id)
  shop.pass(31 * DAY + 3_600)
  await shop.settled()
  assert.equal((await shop.row())?.status, 'past_due')
  return shop
}

async function useFailingCard({ stripe, atStripe }: Shop, id: string): Promise<void> {
  const customer = String(atStripe(id).customer)
  const card = await stripe.paymentMethods.attach('pm_card_chargeCustomerFail', { customer })
  await stripe.subscriptions.update(id, { default_payment_method: card.id })
}

const balanceOf = ({ double }: Shop) =>
  [...double.world.state.tables.customers.values()].map(({ balance }) => balance)

const open = async (shop: Shop) =>
  (await shop.stripe.invoices.list({ status: 'open' })).data.map(({ amount_due }) => amount_due)

describe('overages while a renewal is not paid', () => {
  it('cannot be turned on, but off', async () => {
    await using shop = await openPastDue()
    const answer = await shop.send('PATCH', SUBSCRIPTION, { overagesEnabled: true })
    assert.equal(answer.status, 400)
    assert.equal(codeOf(answer), 'PAYMENT_FAILED')
    assert.equal((await shop.row())?.overages, false)
    assert.equal((await shop.send('PATCH', SUBSCRIPTION, { overagesEnabled: false })).status, 200)
    const paymentMethodId = 'pm_card_visa'
    await shop.send('POST', '/v1/billing/payment-method', { paymentMethodId })
    assert.equal((await shop.send('PATCH', SUBSCRIPTION, { overagesEnabled: true })).status, 200)
  })
})

describe('overages that are on when a renewal fails', () => {
  it('answer no request over the cap until it is paid', async () => {
    await using shop = await openShop({ env: { MERIDIAN_PLANS: overagePlans() } })
    await shop.app.services.overages.refreshPrice()
    const { id } = await shop.buy('pro')
    await shop.send('PATCH', SUBSCRIPTION, { overagesEnabled: true })
    await useFailingCard(shop, id)
    shop.pass(31 * DAY + 3_600)
    await shop.settled()
    assert.equal((await shop.row())?.status, 'past_due')
    const isReduced = async () => /"degraded":true/.test((await lookUp()).text)
    const lookUp = () => shop.send('GET', '/v1/ip/81.2.69.160')
    for (let n = 0; n < CAP; n += 1) assert.equal(await isReduced(), false)
    assert.equal(await isReduced(), true)
    await shop.app.services.overages.reportAll(shop.userId)
    assert.equal(shop.double.world.state.meterEvents.size, 0)
    await shop.send('POST', '/v1/billing/payment-method', { paymentMethodId: 'pm_card_visa' })
    assert.equal(await isReduced(), false)
  })
})

describe('a change of the plan while an invoice is open', () => {
  it('is refused with advice, and credits nothing', async () => {
    await using shop = await openPastDue()
    for (const planId of ['starter', 'pro']) {
      const preview = await shop.send('GET', `${SUBSCRIPTION}/preview?planId=${planId}`)
      const change = await shop.send('PUT', SUBSCRIPTION, { planId })
      if (planId === 'pro') {
        assert.deepEqual([preview.status, change.status], [200, 200])
        continue
      }
      for (const answer of [preview, change]) {
        assert.equal(answer.status, 400)
        assert.equal(codeOf(answer), 'PAYMENT_FAILED')
        assert.match(answer.text, /Pay the open invoice .*hostedInvoiceUrl/)
      }
    }
    assert.deepEqual(await open(shop), [2900])
    assert.deepEqual(balanceOf(shop), [0])
    assert.equal((await shop.row())?.plan, 'pro')
  })

  it('is refused even if the status is active, as while a bank debit is under way', async () => {
    await using shop = await openPastDue()
    const id = (await shop.row())?.id ?? ''
    const { subscriptions } = shop.double.world.state.tables
    subscriptions.set(id, { ...shop.atStripe(id), status: 'active' })
    const answer = await shop.send('PUT', SUBSCRIPTION, { planId: 'starter' })
    assert.equal(codeOf(answer), 'PAYMENT_FAILED')
  })

  it('leaves no credit when dunning ends, so that a new subscription is charged in full', async () => {
    await using shop = await openPastDue()
    await shop.send('PUT', SUBSCRIPTION, { planId: 'starter' })
    shop.pass(15 * DAY)
    await shop.settled()
    assert.equal(await shop.row(), null)
    assert.deepEqual(balanceOf(shop), [0])
    await shop.buy('starter')
    const invoices = [...shop.double.world.state.tables.invoices.values()]
    assert.deepEqual(
      invoices.map(({ status, amount_paid }) => [status, amount_paid]),
      [
        ['paid', 2900],
        ['void', 0],
        ['paid', 900],
      ],
    )
  })

  it('leaves no credit if it was made while the invoice was a draft, and the invoice then fails', async () => {
    await using shop = await openShop()
    const { id } = await shop.buy('pro')
    await useFailingCard(shop, id)
    shop.pass(31 * DAY)
    await shop.settled()
    assert.equal((await shop.send('PUT', SUBSCRIPTION, { planId: 'starter' })).status, 200)
    assert.deepEqual(balanceOf(shop), [-2000])
    shop.pass(3_600)
    await shop.settled()
    // The draft over 2900 uses up the credit.
    assert.deepEqual(await open(shop), [900])
    assert.deepEqual(balanceOf(shop), [0])
    shop.pass(15 * DAY)
    await shop.settled()
    assert.equal(await shop.row(), null)
    assert.deepEqual(balanceOf(shop), [0])
  })

  it('is made with proration once the invoice is paid', async () => {
    await using shop = await openPastDue()
    const [invoice] = (await shop.stripe.invoices.list({ status: 'open' })).data
    const body = new URLSearchParams({ card: '4242424242424242' })
    await fetch(invoice?.hosted_invoice_url ?? '', { method: 'POST', body })
    await shop.settled()
    assert.equal((await shop.row())?.status, 'active')
    // Half of the 28 days from 15 February to 15 March: half of 2000 cents is credited.
    shop.pass(14 * DAY - 3_600)
    assert.equal((await shop.send('PUT', SUBSCRIPTION, { planId: 'starter' })).status, 200)
    assert.deepEqual(balanceOf(shop), [-1000])
  })
})
