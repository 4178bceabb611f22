import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import * as v from 'valibot'
import { monthOf } from '../../../lib/config/period.ts'
import { PlanChangeResponse } from '../../../lib/contract/billing/billing-schemas.ts'
import { DAY, openShop, type Shop, SUBSCRIPTION } from '../shop.ts'
import { CAP, overagePlans } from './overages.ts'
import { deleteAccount } from './with-usage.ts'

/*
 * Whatever happens to a subscription, Stripe gets each unit once: what a user gets in full over the cap is what
 * is sent. Answers over the spending cap are reduced, so nothing of them is sent.
 */

const Meta = v.object({ meta: v.object({ degraded: v.boolean() }) })
/** In cents: it pays for 10 units. */
const SMALL_CAP = 1

/** A shop, and how many answers of each period of requests were given in full. */
interface Story {
  readonly shop: Shop
  readonly full: Map<number, number>
  /** Whether the account is deleted. */
  isOver: boolean
}

async function ask({ shop, full }: Story, requests: number): Promise<void> {
  const row = await shop.row()
  const period = row?.periodStart ?? -monthOf(shop.now()).start
  for (let n = 0; n < requests; n += 1) {
    const { body, text } = await shop.send('GET', '/v1/ip/81.2.69.160')
    const { degraded } = v.parse(Meta, body, { message: text }).meta
    if (!degraded) full.set(period, (full.get(period) ?? 0) + 1)
  }
}

const customerOf = ({ double }: Shop) => String([...double.world.state.tables.customers.keys()][0])

const live = ({ double }: Shop) =>
  [...double.world.state.tables.subscriptions.values()].filter(({ status }) => status === 'active')

async function attach(shop: Shop, card: string): Promise<string> {
  return (await shop.stripe.paymentMethods.attach(card, { customer: customerOf(shop) })).id
}

/** Changes from Starter to Pro with a card that asks. Returns the page on which to confirm. */
async function changeWithBank(shop: Shop): Promise<string | undefined> {
  const row = await shop.row()
  if (row?.plan !== 'starter') return undefined
  const payWith = async (card: string) =>
    shop.stripe.subscriptions.update(row.id, { default_payment_method: await attach(shop, card) })
  await payWith('pm_card_authenticationRequired')
  const { body } = await shop.send('PUT', SUBSCRIPTION, { planId: 'pro' })
  await payWith('pm_card_visa')
  return v.is(PlanChangeResponse, body) ? body.confirmation?.url : undefined
}

/** What may happen, besides requests and time. Refusals are part of it. */
const EVENTS = {
  on: ({ shop }) => shop.send('PATCH', SUBSCRIPTION, { overagesEnabled: true }),
  off: ({ shop }) => shop.send('PATCH', SUBSCRIPTION, { overagesEnabled: false }),
  'spend less': ({ shop }) => shop.send('PUT', '/v1/billing/overages', { spendingCap: SMALL_CAP }),
  'spend more': ({ shop }) => shop.send('PUT', '/v1/billing/overages', { spendingCap: 100 }),
  cancel: ({ shop }) => shop.send('DELETE', SUBSCRIPTION),
  'cancel in the portal': async ({ shop }) => {
    const [first] = live(shop)
    if (first) await shop.stripe.subscriptions.update(first.id, { cancel_at: 'min_period_end' })
  },
  'end at Stripe': async ({ shop }) => {
    const last = live(shop).at(-1)
    if (last) await shop.stripe.subscriptions.cancel(last.id, { invoice_now: true })
  },
  reactivate: ({ shop }) => shop.send('POST', `${SUBSCRIPTION}/reactivate`),
  starter: ({ shop }) => shop.send('PUT', SUBSCRIPTION, { planId: 'starter' }),
  pro: ({ shop }) => shop.send('PUT', SUBSCRIPTION, { planId: 'pro' }),
  'a second subscription': async ({ shop }) => {
    if (live(shop).length !== 1) return
    await shop.stripe.subscriptions.create({
      customer: customerOf(shop),
      default_payment_method: await attach(shop, 'pm_card_visa'),
      items: [{ price: shop.prices.pro }],
    })
  },
  'a pending change': ({ shop }) => changeWithBank(shop),
  'a confirmed change': async ({ shop }) => {
    const page = await changeWithBank(shop)
    if (page === undefined) return
    const answer = new URLSearchParams({ authentication: 'confirmed' })
    await fetch(page, { method: 'POST', body: answer, redirect: 'manual' })
  },
  report: ({ shop }) => shop.app.services.overages.reportDue(),
  'the hourly run': async ({ shop }) => {
    await shop.app.services.reconciliation.run()
    await shop.app.services.overages.removeUnusedItems()
  },
  'delete the account': async (story) => {
    story.isOver = (await deleteAccount(story.shop)).status === 200
  },
} as const satisfies Record<string, (story: Story) => Promise<unknown>>

type EventName = keyof typeof EVENTS
// safe: the keys of the object
const NAMES = Object.keys(EVENTS) as EventName[]
const OFTEN: EventName[] = ['on', 'on', 'pro', 'starter', 'report', 'a second subscription']

const Step = fc.record({
  event: fc.constantFrom(...NAMES, ...OFTEN),
  requests: fc.oneof(fc.constant(0), fc.nat(2 * CAP), fc.constant(20)),
  seconds: fc.oneof(fc.constant(1), fc.nat(3_600), fc.nat(20 * DAY)),
})

const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0)

describe('the units that Stripe receives', () => {
  it('are the answers in full over the cap, through all that happens to a subscription', async () => {
    const env = { MERIDIAN_PLANS: overagePlans() }
    const property = fc.asyncProperty(fc.array(Step, { maxLength: 12 }), async (steps) => {
      await using shop = await openShop({ env })
      const story: Story = { shop, full: new Map(), isOver: false }
      await shop.app.services.overages.refreshPrice()
      await shop.buy('pro')
      await EVENTS.on(story)
      for (const { event, requests, seconds } of steps) {
        await EVENTS[event](story)
        await shop.settled()
        if (story.isOver) break
        await ask(story, requests)
        shop.pass(seconds)
        await shop.settled()
      }
      if (!story.isOver) await shop.app.services.overages.reportAll(shop.userId)
      const counted = sum([...story.full.values()].map((full) => Math.max(0, full - CAP)))
      const sent = sum([...shop.double.world.state.meterEvents.values()].map(({ value }) => value))
      assert.equal(sent, counted)
    })
    await fc.assert(property, { numRuns: 15 })
  })
})
