import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import {
  Invoice,
  PlanChangeResponse,
  ProrationPreview,
} from '../../../lib/contract/billing/billing-schemas.ts'
import { Terms } from '../../../lib/contract/billing/price-schemas.ts'
import { codeOf } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { auditOf, DAY, openShop, type Shop, SUBSCRIPTION } from '../shop.ts'

const ASKS = 'pm_card_authenticationRequired'

/** Buys Starter with a card that pays, then uses another card. */
async function openWith(card: string): Promise<Shop> {
  const shop = await openShop()
  const { id } = await shop.buy('starter')
  const customer = String(shop.atStripe(id).customer)
  const { id: method } = await shop.stripe.paymentMethods.attach(card, { customer })
  await shop.stripe.subscriptions.update(id, { default_payment_method: method })
  await shop.settled()
  shop.newCalls()
  return shop
}

async function change(shop: Shop, planId = 'pro') {
  const { status, body, text } = await shop.send('PUT', SUBSCRIPTION, { planId })
  assert.equal(status, 200, text)
  return v.parse(PlanChangeResponse, body)
}

/** Answers the bank's question on the page of the invoice. */
async function answer(shop: Shop, url: string | undefined, authentication: string) {
  const body = new URLSearchParams({ authentication })
  await fetch(url ?? '', { method: 'POST', body, redirect: 'manual' })
  await shop.settled()
}

async function terms(shop: Shop) {
  return v.parse(Terms, (await shop.send('GET', `${SUBSCRIPTION}/terms`)).body)
}

const lapses = async (shop: Shop) =>
  (await auditOf(shop)).flatMap(({ app, action, detail }) =>
    action === 'plan_change_lapsed' ? [{ app, detail }] : [],
  )

const totals = ({ double }: Shop) =>
  [...double.world.state.tables.invoices.values()].map(
    ({ status, amount_due }) => `${status} ${amount_due}`,
  )

describe('an upgrade whose payment the bank wants confirmed', () => {
  const shop = freshly(() => openWith(ASKS))

  it('answers the page on which to confirm, and changes the plan once it is paid', async () => {
    const asked = await change(shop)
    assert.equal(asked.plan.id, 'starter')
    assert.equal(asked.subscription?.status, 'active')
    assert.equal(asked.confirmation?.expiresAt, '2026-01-16T11:00:00.000Z')
    await shop.settled()
    assert.equal((await shop.row())?.plan, 'starter')
    await answer(shop, asked.confirmation.url, 'confirmed')
    assert.equal((await shop.row())?.plan, 'pro')
    assert.deepEqual(totals(shop), ['paid 900', 'paid 2000'])
    assert.deepEqual(
      (await auditOf(shop)).slice(-3).map(({ app, action, detail }) => [app, action, detail]),
      [
        ['api', 'change_plan', 'starter to pro, to be confirmed'],
        ['stripe', 'payment_failed', null],
        ['stripe', 'subscription_updated', 'starter active to pro active'],
      ],
    )
    assert.equal('confirmation' in (await change(shop)), false)
  })

  it('changes nothing, and leaves nothing to pay, if the customer does not confirm', async () => {
    const { confirmation } = await change(shop)
    await answer(shop, confirmation?.url, 'failed')
    assert.equal((await shop.row())?.plan, 'starter')
    shop.pass(23 * 3_600)
    await shop.settled()
    assert.equal((await shop.row())?.plan, 'starter')
    assert.equal((await shop.row())?.status, 'active')
    assert.deepEqual(totals(shop), ['paid 900', 'void 2000'])
  })

  for (const events of ['arrive', 'are lost'] as const) {
    it(`shows the user that it was not confirmed in time if the events ${events}`, async () => {
      await change(shop)
      await shop.settled()
      assert.equal((await terms(shop)).lapsedChange, undefined)
      if (events === 'are lost') shop.double.switchDeliveries('drop', 20)
      shop.pass(23 * 3_600)
      await shop.settled()
      if (events === 'are lost') await shop.app.services.reconciliation.run()
      const lapsed = { planId: 'pro', interval: 'month' }
      assert.deepEqual((await terms(shop)).lapsedChange, lapsed)
      await shop.app.services.reconciliation.run()
      assert.deepEqual(await lapses(shop), [{ app: 'stripe', detail: 'pro by the month' }])
      // The notice ends with the period.
      shop.pass(31 * DAY)
      await shop.settled()
      await shop.app.services.reconciliation.run()
      assert.equal((await terms(shop)).lapsedChange, undefined)
    })
  }

  it('leaves no notice once the customer has cancelled it or made another change', async () => {
    await change(shop)
    await change(shop, 'starter')
    await shop.settled()
    assert.equal((await terms(shop)).lapsedChange, undefined)
    await change(shop)
    shop.pass(23 * 3_600)
    await shop.settled()
    const { confirmation } = await change(shop)
    assert.equal((await terms(shop)).lapsedChange, undefined)
    await answer(shop, confirmation?.url, 'confirmed')
    assert.equal((await terms(shop)).lapsedChange, undefined)
    assert.equal((await lapses(shop)).length, 1)
  })

  it('answers the same page again, and charges once', async () => {
    const first = await change(shop)
    assert.deepEqual(await change(shop), first)
    assert.deepEqual(totals(shop), ['paid 900', 'open 2000'])
    await answer(shop, first.confirmation?.url, 'confirmed')
    assert.deepEqual(totals(shop), ['paid 900', 'paid 2000'])
  })

  it('costs what a preview shows while it waits', async () => {
    shop.pass(10 * DAY)
    const { confirmation } = await change(shop)
    shop.pass(22 * 3_600)
    const { body } = await shop.send('GET', `${SUBSCRIPTION}/preview?planId=pro`)
    const { amountDue, prorationDate } = v.parse(ProrationPreview, body)
    // 21 of 31 days: 1965 for Pro, less 610 for Starter.
    assert.equal(amountDue, 1355)
    assert.equal(prorationDate, '2026-01-25T12:00:00.000Z')
    assert.deepEqual((await change(shop)).confirmation, confirmation)
    assert.deepEqual(totals(shop), ['paid 900', 'open 1355'])
  })

  it('is taken back by choosing the current plan', async () => {
    const { confirmation } = await change(shop)
    assert.equal('confirmation' in (await change(shop, 'starter')), false)
    assert.deepEqual(totals(shop), ['paid 900', 'void 2000'])
    await answer(shop, confirmation?.url, 'confirmed')
    assert.equal((await shop.row())?.plan, 'starter')
  })

  it('charges what the preview showed, even if it is confirmed much later', async () => {
    shop.pass(10 * DAY)
    await shop.send('GET', `${SUBSCRIPTION}/preview?planId=pro`)
    const { confirmation } = await change(shop)
    shop.pass(22 * 3_600)
    await answer(shop, confirmation?.url, 'confirmed')
    // 21 of 31 days: 1965 for Pro, less 610 for Starter.
    assert.deepEqual(totals(shop), ['paid 900', 'paid 1355'])
    assert.equal((await shop.row())?.plan, 'pro')
    assert.equal((await shop.row())?.chargedFrom, `pro=${Date.UTC(2026, 0, 25, 12) / 1000}`)
  })

  it('is found by the next comparison with Stripe if the events are lost', async () => {
    const { confirmation } = await change(shop)
    await shop.settled()
    shop.double.switchDeliveries('drop', 20)
    await answer(shop, confirmation?.url, 'confirmed')
    assert.equal((await shop.row())?.plan, 'starter')
    await shop.app.services.reconciliation.run()
    assert.equal((await shop.row())?.plan, 'pro')
  })

  it('is PAYMENT_FAILED, with nothing left to pay, if the card is declined', async () => {
    await using shop = await openWith('pm_card_chargeCustomerFail')
    const refused = await shop.send('PUT', SUBSCRIPTION, { planId: 'pro' })
    assert.equal(codeOf(refused), 'PAYMENT_FAILED')
    assert.deepEqual(totals(shop), ['paid 900'])
  })
})

describe('a renewal that the bank wants confirmed', () => {
  it('keeps the plan, and has its page in the list of invoices', async () => {
    await using shop = await openWith(ASKS)
    shop.pass(31 * DAY + 3_600)
    await shop.settled()
    assert.equal((await shop.row())?.status, 'past_due')
    const { body } = await shop.send('GET', '/v1/billing/invoices')
    const [open] = v.parse(v.array(Invoice), body)
    assert.equal(open?.status, 'open')
    await answer(shop, open.hostedInvoiceUrl ?? undefined, 'confirmed')
    assert.equal((await shop.row())?.status, 'active')
    assert.deepEqual(totals(shop), ['paid 900', 'paid 900'])
  })
})

describe('a checkout that the bank wants confirmed', () => {
  it('gives the plan once the customer has confirmed on the payment page', async () => {
    await using shop = await openShop()
    const { body } = await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
    const { url } = v.parse(v.object({ url: v.string() }), body)
    const card = { card: '4000 0027 6000 3184' }
    const pay = (fields: Record<string, string>) =>
      fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' })
    assert.equal((await pay(card)).status, 402)
    await shop.settled()
    assert.equal(await shop.row(), null)
    assert.equal((await pay({ ...card, authentication: 'confirmed' })).status, 303)
    await shop.settled()
    assert.equal((await shop.row())?.plan, 'pro')
  })
})

/*
 * "If the pending update expires before payment, Stripe discards this usage":
 * https://docs.stripe.com/billing/subscriptions/pending-updates, "Metered items"
 */
describe('a change that the bank asks to confirm while overages are charged', () => {
  it('is refused with the way to the portal, so that no units are lost', async () => {
    await using shop = await openShop()
    await shop.app.services.overages.refreshPrice()
    const { id } = await shop.buy('pro')
    assert.equal((await shop.send('PATCH', SUBSCRIPTION, { overagesEnabled: true })).status, 200)
    assert.equal((await shop.send('PUT', SUBSCRIPTION, { planId: 'starter' })).status, 200)
    const customer = String(shop.atStripe(id).customer)
    const { id: method } = await shop.stripe.paymentMethods.attach(ASKS, { customer })
    await shop.stripe.subscriptions.update(id, { default_payment_method: method })
    shop.pass(DAY)
    // Nothing is owed before the credit is used up.
    const { customers } = shop.double.world.state.tables
    const row = customers.get(customer)
    assert.ok(row)
    customers.set(customer, { ...row, balance: 0 })
    const refused = await shop.send('PUT', SUBSCRIPTION, { planId: 'pro' })
    assert.equal(codeOf(refused), 'PAYMENT_FAILED')
    assert.match(refused.text, /POST \/v1\/billing\/portal/)
    assert.equal(shop.atStripe(id).pending_update, null)
    assert.equal((await shop.row())?.plan, 'starter')
  })
})
