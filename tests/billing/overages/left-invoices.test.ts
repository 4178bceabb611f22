import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { seedPlans } from '../../../stripe-double/plans.ts'
import { startStripeDouble } from '../../../stripe-double/start-double.ts'
import { write } from '../../support/database/sql.ts'
import { recordingLog } from '../../support/helpers.ts'
import { closedAfterTest, freshly } from '../../support/scene/freshly.ts'
import { DAY, methodOf, type Shop, SUBSCRIPTION } from '../shop.ts'
import { COST, deleteAccount, invoicesOf, openWithUsage, UNITS } from './with-usage.ts'

const closed = closedAfterTest()

const RENEWAL = 2_900 + COST

/** A user whose renewal, which charges for overages too, has failed. */
async function openOwing() {
  const log = recordingLog()
  const shop = { ...(await openWithUsage({ log })), log }
  await shop.app.services.overages.reportAll(shop.userId)
  await useCard(shop, 'pm_card_chargeCustomerFail')
  shop.pass(31 * DAY + 3_600)
  await shop.settled()
  assert.deepEqual(invoicesOf(shop), [
    ['paid', 2_900, [1]],
    ['open', RENEWAL, [UNITS, 1]],
  ])
  return shop
}

async function useCard({ stripe, atStripe, id }: Shop & { readonly id: string }, card: string) {
  const customer = String(atStripe(id).customer)
  const method = await stripe.paymentMethods.attach(card, { customer })
  await stripe.subscriptions.update(id, { default_payment_method: method.id })
}

/** Lets all retries fail. */
async function becomeUnpaid(shop: Shop & { readonly id: string }): Promise<void> {
  shop.double.setDunning({ end: 'unpaid' })
  shop.pass(16 * DAY)
  await shop.settled()
  assert.equal(shop.atStripe(shop.id).status, 'unpaid')
}

/** Changes the only open invoice, as if its subscription had been another. */
function changeOpen({ double }: Shop, change: (lines: Lines) => Lines): void {
  const { invoices } = double.world.state.tables
  for (const row of invoices.values()) {
    if (row.status !== 'open') continue
    invoices.set(row.id, { ...row, lines: { ...row.lines, data: change(row.lines.data) } })
  }
}
type Lines = Awaited<ReturnType<Shop['stripe']['invoices']['retrieve']>>['lines']['data']

/** Without the draft of the end, which charges nothing. */
const statusesOf = (shop: Shop) =>
  invoicesOf(shop).flatMap(([status]) => (status === 'draft' ? [] : [status]))

describe('an open invoice of a subscription that ended unpaid', () => {
  const shop = freshly(openOwing)

  it('stays if it charges for requests over the cap, when a plan is bought again', async () => {
    await becomeUnpaid(shop)
    await shop.buy('pro')
    assert.deepEqual(statusesOf(shop), ['paid', 'open', 'paid'])
  })

  it('stays if that line is not among the first that Stripe shows', async () => {
    await becomeUnpaid(shop)
    changeOpen(shop, ([usage, ...rest]) => {
      const copies = Array.from({ length: 12 }, (_, n) =>
        rest.map((line) => ({ ...line, id: `il_${n}` })),
      )
      return [...copies.flat(), ...(usage === undefined ? [] : [usage])]
    })
    await shop.buy('pro')
    assert.deepEqual(statusesOf(shop), ['paid', 'open', 'paid'])
  })

  it('is made void by the hourly run if Stripe refused it after the purchase, which counts', async () => {
    await becomeUnpaid(shop)
    changeOpen(shop, (lines) => lines.slice(1))
    await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
    await shop.settled()
    const [session] = [...shop.double.world.state.tables.sessions.values()].slice(-1)
    shop.double.failCalls({ kind: '403', method: 'POST' }, 10)
    shop.double.payCheckout(session?.id ?? '', { card: 'pm_card_visa' })
    await shop.settled()
    shop.double.clearFaults()
    assert.equal((await shop.row())?.status, 'active')
    assert.deepEqual(statusesOf(shop), ['paid', 'open', 'paid'])
    assert.equal(shop.log.events.filter(({ message }) => /cannot settle/.test(message)).length, 1)
    await shop.app.services.reconciliation.run()
    assert.deepEqual(statusesOf(shop), ['paid', 'void', 'paid'])
  })
})

describe('an open invoice with requests over the cap', () => {
  const shop = freshly(openOwing)

  it('is collected again when its subscription ends', async () => {
    await useCard(shop, 'pm_card_visa')
    await shop.stripe.subscriptions.cancel(shop.id)
    await shop.settled()
    shop.pass(3_600)
    assert.deepEqual(invoicesOf(shop)[1], ['paid', RENEWAL, [UNITS, 1]])
  })

  it('stays open if the card is still declined, and Stripe tries again', async () => {
    await shop.stripe.subscriptions.cancel(shop.id)
    await shop.settled()
    const [open] = (await shop.stripe.invoices.list({ status: 'open' })).data
    assert.equal(open?.auto_advance, true)
    await useCardOfCustomer(shop)
    shop.pass(DAY)
    assert.deepEqual(invoicesOf(shop)[1], ['paid', RENEWAL, [UNITS, 1]])
  })
})

/** An ended subscription takes no card. */
async function useCardOfCustomer({ double, stripe, atStripe, id }: Shop & { readonly id: string }) {
  const { subscriptions } = double.world.state.tables
  const row = atStripe(id)
  const method = await stripe.paymentMethods.attach('pm_card_visa', {
    customer: String(row.customer),
  })
  subscriptions.set(id, { ...row, default_payment_method: method.id })
}

describe('the overages of a deleted account', () => {
  const shop = freshly(() => openWithUsage())

  it('are charged by the hourly run if Stripe refuses that after the end', async () => {
    await shop.app.services.overages.reportAll(shop.userId)
    shop.pass(31 * DAY + 1_800)
    await shop.settled()
    shop.double.switchDeliveries('drop', 1_000)
    shop.double.failCalls({ kind: '403', method: 'POST' }, 2)
    assert.equal((await deleteAccount(shop)).status, 200)
    shop.double.clearFaults()
    assert.equal(shop.atStripe(shop.id).status, 'canceled')
    shop.pass(3_600)
    assert.equal(invoicesOf(shop)[1]?.[0], 'draft')
    await shop.app.services.reconciliation.run()
    shop.pass(3_600)
    assert.deepEqual(invoicesOf(shop)[1], ['paid', COST, [UNITS]])
  })
})

describe('the hourly collection', () => {
  const shop = freshly(async () => {
    const log = recordingLog()
    return { ...(await openWithUsage({ log })), log }
  })

  /** Lets the subscription end without its event, and adds an invoice of it whose price Stripe has lost. */
  async function endBoth(): Promise<void> {
    await shop.send('DELETE', SUBSCRIPTION)
    await shop.app.services.overages.reportAll(shop.userId)
    shop.double.switchDeliveries('drop', 1_000)
    shop.pass(31 * DAY)
    const { invoices } = shop.double.world.state.tables
    const [last] = [...invoices.values()].slice(-1)
    assert.ok(last)
    const price_details = { price: 'price_lost', product: 'prod_lost' }
    const data = last.lines.data.map((line) => ({
      ...line,
      pricing: { type: 'price_details', price_details, unit_amount_decimal: null } as const,
    }))
    invoices.set('in_broken', { ...last, id: 'in_broken', lines: { ...last.lines, data } })
  }

  it('goes on after an invoice that cannot be settled, and says so after the differences', async () => {
    await endBoth()
    const { id: stranger } = await shop.stripe.customers.create()
    const { id: method } = await shop.stripe.paymentMethods.attach('pm_card_visa', {
      customer: stranger,
    })
    await shop.stripe.subscriptions.create({
      customer: stranger,
      default_payment_method: method,
      items: [{ price: shop.prices.pro }],
      metadata: { meridian_user: 'nobody' },
    })
    for (let runs = 0; runs < 2; runs += 1) await shop.app.services.reconciliation.run()
    shop.pass(3_600)
    const statuses = new Map(
      [...shop.double.world.state.tables.invoices.values()].map((row) => [row.id, row.status]),
    )
    assert.equal(statuses.get('in_broken'), 'draft')
    assert.deepEqual([...statuses.values()], ['paid', 'paid', 'draft', 'paid'])
    const messages = shop.log.events.map(({ message }) => message)
    const differs = messages.findIndex((text) => /does not exist here/.test(text))
    const failed = shop.log.events.findIndex(({ message }) => /cannot settle/.test(message))
    assert.ok(differs >= 0 && differs < failed)
    assert.match(
      JSON.stringify(shop.log.events[failed]?.fields),
      new RegExp(`"subscription":"${shop.id}"`),
    )
    assert.ok(shop.app.services.reconciliation.last().succeededAt > 0)
  })

  it('asks nothing with the key of another account', async () => {
    await shop.app.services.reconciliation.run()
    await endBoth()
    await write(shop.app, 'DELETE FROM subscriptions')
    const other = closed(await startStripeDouble({ realNow: shop.now }))
    seedPlans(other.world, [])
    await using wrong = await shop.app.restart({ STRIPE_API_BASE: other.url })
    shop.log.events.length = 0
    await wrong.services.reconciliation.run()
    const messages = shop.log.events.map(({ message }) => message)
    assert.equal(messages.filter((text) => /another Stripe account/.test(text)).length, 1)
    assert.deepEqual(
      messages.filter((text) => /^cannot/.test(text)),
      [],
    )
  })

  it('leaves the draft of a live second subscription to Stripe', async () => {
    await shop.app.services.overages.reportAll(shop.userId)
    shop.pass(10 * DAY)
    const { customer } = shop.atStripe(shop.id)
    await shop.stripe.subscriptions.create({
      customer: String(customer),
      default_payment_method: methodOf(shop, shop.id),
      items: [{ price: shop.prices.pro }],
    })
    shop.pass(21 * DAY + 600)
    await shop.settled()
    assert.notEqual((await shop.row())?.id, shop.id)
    await shop.app.services.reconciliation.run()
    assert.deepEqual(invoicesOf(shop).at(-1), ['draft', RENEWAL, [UNITS, 1]])
  })
})
