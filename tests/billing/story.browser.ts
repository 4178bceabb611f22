import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as v from 'valibot'
import { plansFileOf } from '../support/plans-file.ts'
import {
  openShopper,
  type Shopper,
  shownCost,
  shownInvoices,
  shownPlan,
  shownText,
} from './shopper.ts'

/*
 * The life of a subscription, as its customer sees it in a browser. The service and the Stripe double
 * share a clock, which only the story moves, so all sums are exact. They are worked out on paper here.
 *
 * Starter costs 9.00 a month, Pro 29.00 with a fortnight for free.
 */

const TIMEOUT_MS = 300_000

const rest = { maxKeys: 5, maxSites: 1 }
const PLANS = [
  { id: 'starter', name: 'Starter', price: 9, monthlyCap: 10, requestsPerMinute: 120, ...rest },
  {
    ...{ id: 'pro', name: 'Pro', price: 29, monthlyCap: 30, requestsPerMinute: 600, ...rest },
    trialDays: 14,
  },
]

/** Look-ups per minute, by which a key shows the plan in effect. */
const FREE = 10
const STARTER = 120
const PRO = 600

/** The bank asks its holder to confirm each payment. */
const ASKING_CARD = '4000 0027 6000 3184'

/** What the page says about the plan of somebody who does not subscribe. */
const NOTHING = ['free', 'No subscription. You are not charged.']

let grace: Shopper
before(async () => {
  const start = Date.UTC(2025, 2, 18, 12)
  grace = await openShopper({ start, env: { MERIDIAN_PLANS: plansFileOf(PLANS) } })
  await grace.shop.app.services.catalogue.refresh()
})
after(() => grace[Symbol.asyncDispose]())

let isBroken = false

/** A part of the story. After one that fails, the others are skipped, since they build on it. */
function chapter(title: string, tell: () => Promise<void>): void {
  it(title, async (t) => {
    if (isBroken) return t.skip('an earlier chapter failed')
    isBroken = true
    try {
      await tell()
      isBroken = false
    } finally {
      if (isBroken) t.diagnostic(await shownText(grace))
    }
  })
}

describe('the life of a subscription, in a browser', { timeout: TIMEOUT_MS }, () => {
  chapter('A trial begins, and its page shows so by itself once Stripe answers', async () => {
    const { shop, page, open, lookUp, press, signUp } = grace
    await signUp('grace@example.com')
    assert.equal(await lookUp(), FREE)
    await open('/app/billing')
    await press('Subscribe to Pro')
    await page.waitForURL(/\/c\/pay\//)
    // Until Stripe answers, neither the return nor an event can tell that the trial has begun.
    shop.double.failCalls({ kind: '403', method: 'GET' }, 1_000)
    await press('Pay')
    await page.waitForSelector('text=as soon as the payment is confirmed')
    await shows(NOTHING)
    await page.evaluate('window.isOld = true')
    shop.double.clearFaults()
    shop.pass(3)
    await page.waitForSelector('text=Your plan is active')
    await shows([
      'Pro',
      'Status: Trial',
      'Price: $29.00 per month',
      'Trial ends: 1 Apr; then $29.00 is charged, plus tax if any, less discounts',
      'Period started: 18 Mar',
      'Renews: 1 Apr',
    ])
    assert.equal(await page.evaluate('window.isOld'), true, 'the page was not loaded again')
    assert.equal(await lookUp(), PRO)
    assert.deepEqual(await shownInvoices(grace), ['1: 2025-03-18 paid, $0.00 due, $0.00 paid'])
  })

  chapter('The trial is cancelled, and ends without a charge', async () => {
    const { open, lookUp, waitUntil } = grace
    await waitUntil('2025-03-25T12:00:00Z')
    await cancel()
    await shows([
      'Pro',
      'Status: Cancelled, active until the period ends',
      'Price: $29.00 per month',
      'Trial ends: 1 Apr; nothing will be charged',
      'Period started: 18 Mar',
      'Ends: 1 Apr',
    ])
    assert.equal(await lookUp(), PRO)
    await waitUntil('2025-04-01T12:00:00Z')
    await open('/app/billing')
    await shows(NOTHING)
    assert.equal(await lookUp(), FREE)
    assert.equal((await shownInvoices(grace)).length, 1)
  })

  chapter('Starter is bought, and the bank asks to confirm the payment', async () => {
    const { page, open, lookUp, press, shop } = grace
    await open('/app/billing')
    await press('Subscribe to Starter')
    await page.waitForSelector('text=Meridian Starter: $9.00 per month')
    await page.fill('[name="card"]', ASKING_CARD)
    await press('Pay')
    await page.waitForSelector('text=The bank asks you to confirm the payment')
    await shop.settled()
    assert.equal(await lookUp(), FREE)
    await press('Confirm')
    await page.waitForSelector('text=Your plan is active')
    await shows(paid('Starter', 'Active', '1 Apr', 'Renews: 1 May'))
    await shop.settled()
    assert.equal(await lookUp(), STARTER)
    assert.equal(await lastInvoice(), '2: 2025-04-01 paid, $9.00 due, $9.00 paid')
  })

  chapter('An upgrade takes effect once its payment is confirmed', async () => {
    const { page, open, lookUp, press, shop, waitUntil } = grace
    await waitUntil('2025-04-16T12:00:00Z')
    await open('/app/billing')
    await page.click('text=Change to Pro')
    assert.deepEqual(await shownCost(grace), [
      // 9.00 for 15 of 30 days = 4.50
      'Unused time on Meridian Starter: -$4.50',
      // 29.00 for 15 of 30 days = 14.50
      'Remaining time on Meridian Pro: $14.50',
      // 14.50 - 4.50 = 10.00
      'Charged now: $10.00',
    ])
    await press('Change and pay $10.00')
    await page.waitForSelector('text=Due: $10.00 (open)')
    await shop.settled()
    assert.equal(await lookUp(), STARTER)
    await press('Pay and confirm')
    await page.waitForSelector('text=Due: $10.00 (paid)')
    await shop.settled()
    assert.equal(await lookUp(), PRO)
    await open('/app/billing')
    await shows(paid('Pro', 'Active', '1 Apr', 'Renews: 1 May'))
    assert.equal(await lastInvoice(), '3: 2025-04-16 paid, $10.00 due, $10.00 paid')
  })

  chapter('A downgrade credits the additional requests that are left', async () => {
    const { page, open, lookUp, press, waitUntil } = grace
    await waitUntil('2025-04-19T12:00:00Z')
    // Three of the period so far, two of them under Starter: 3 + 19 = 22.
    assert.equal(await lookUp(19), PRO)
    await open('/app')
    assert.equal(await page.textContent('section[aria-labelledby="requests"] .figure'), '22')
    await open('/app/billing')
    await page.click('text=Change to Starter')
    /*
     * Pro has 30 - 10 = 20 requests more than Starter, of which 22 - 10 = 12 are used: 60 %. Only 3 of
     * the 15 days of Pro have passed, so Pro is charged for 60 % of them: 9 days, until 25 April.
     */
    assert.deepEqual(await shownCost(grace), [
      // 14.50 for 6 of 15 days = 5.80
      'Unused time on Meridian Pro: -$5.80',
      // 9.00 for 6 of 30 days = 1.80
      'Remaining time on Meridian Starter: $1.80',
      'Not credited: 12 of the 20 additional requests of Pro are used: $0.00',
      'Charged now: $0.00',
      'Credit for your next invoices, before tax: $4.00',
    ])
    await press('Change plan')
    await page.waitForSelector('text=Your plan is changed')
    await shows(paid('Starter', 'Active', '1 Apr', 'Renews: 1 May'))
    assert.equal(await lookUp(), STARTER)
    assert.equal(await lastInvoice(), '4: 2025-04-19 paid, $0.00 due, $0.00 paid')
  })

  chapter('The renewal fails, and the plan stays while Stripe tries again', async () => {
    const { page, open, lookUp, waitUntil } = grace
    // The bank asks again, but nobody is there. Stripe charges an hour after the period begins.
    await waitUntil('2025-05-01T13:00:00Z')
    await open('/app/billing')
    await page.waitForSelector('text=Your last payment failed')
    await shows(paid('Starter', 'Past due', '1 May', 'Renews: 1 Jun'))
    assert.equal(await lookUp(), STARTER)
    await page.click('text=Change to Pro')
    await page.waitForSelector('text=Pay the open invoice before you change the plan')
    await page.click('text=Pay or confirm at Stripe')
    await page.waitForSelector('text=Due: $5.00 (open)')
    // 9.00 - 4.00 = 5.00
    assert.equal(await lastInvoice(), '5: 2025-05-01 open, $5.00 due, $0.00 paid')
  })

  chapter('A new card pays the open invoice', async () => {
    const { page, open, lookUp, post, shop, waitUntil } = grace
    await waitUntil('2025-05-02T12:00:00Z')
    const { clientSecret } = v.parse(Secret, await post('/v1/billing/setup-intent'))
    // The part of Stripe's form in the page of an app.
    const [intent = ''] = clientSecret.split('_secret')
    const form = { payment_method: 'pm_card_mastercard' }
    const { payment_method } = await shop.stripe.setupIntents.confirm(intent, form)
    await post('/v1/billing/payment-method', { paymentMethodId: String(payment_method) })
    await open('/app/billing')
    await shows(paid('Starter', 'Active', '1 May', 'Renews: 1 Jun'))
    assert.equal(await page.locator('text=Your last payment failed').count(), 0)
    await shop.settled()
    assert.equal(await lookUp(), STARTER)
    assert.equal(await lastInvoice(), '5: 2025-05-01 paid, $5.00 due, $5.00 paid')
    await page.waitForSelector('text=mastercard ending in 4444')
  })

  chapter('The subscription is cancelled, but not at once', async () => {
    const { lookUp, waitUntil } = grace
    await waitUntil('2025-05-10T12:00:00Z')
    await cancel()
    await shows(paid('Starter', 'Cancelled, active until the period ends', '1 May', 'Ends: 1 Jun'))
    assert.equal(await lookUp(), STARTER)
  })

  chapter('The subscription is kept after all, and renews', async () => {
    const { page, open, lookUp, press, waitUntil } = grace
    await waitUntil('2025-05-20T12:00:00Z')
    await open('/app/billing')
    await press('Keep subscription')
    await page.waitForSelector('text=Your subscription continues')
    await shows(paid('Starter', 'Active', '1 May', 'Renews: 1 Jun'))
    await waitUntil('2025-06-01T13:00:00Z')
    assert.equal(await lookUp(), STARTER)
    // The credit is used up.
    assert.equal(await lastInvoice(), '6: 2025-06-01 paid, $9.00 due, $9.00 paid')
  })

  chapter(
    'A payment is disputed, and Stripe cancels the subscription, as its settings say',
    async () => {
      const { open, lookUp, shop, waitUntil } = grace
      await waitUntil('2025-06-20T12:00:00Z')
      const [{ id } = { id: '' }] = [
        ...shop.double.world.state.tables.subscriptions.values(),
      ].slice(-1)
      await shop.stripe.subscriptions.cancel(id)
      await shop.settled()
      assert.equal(await lookUp(), FREE)
      await open('/app/billing')
      await shows(NOTHING)
    },
  )

  chapter('Nothing is charged after the end', async () => {
    const { errors, lookUp, waitUntil } = grace
    await waitUntil('2025-08-20T12:00:00Z')
    assert.equal(await lookUp(), FREE)
    // 9.00 + 10.00 + 5.00 + 9.00 = 33.00
    assert.deepEqual(await shownInvoices(grace), [
      '1: 2025-03-18 paid, $0.00 due, $0.00 paid',
      '2: 2025-04-01 paid, $9.00 due, $9.00 paid',
      '3: 2025-04-16 paid, $10.00 due, $10.00 paid',
      '4: 2025-04-19 paid, $0.00 due, $0.00 paid',
      '5: 2025-05-01 paid, $5.00 due, $5.00 paid',
      '6: 2025-06-01 paid, $9.00 due, $9.00 paid',
    ])
    // The browser also logs each page that is an error, such as that of the bank.
    const others = errors.filter((text) => !text.startsWith('Failed to load resource'))
    assert.deepEqual(others, [])
  })
})

const Secret = v.object({ clientSecret: v.string() })

/** What the page says about a plan that is paid. */
function paid(plan: 'Starter' | 'Pro', status: string, start: string, end: string): string[] {
  const price = plan === 'Pro' ? '$29.00' : '$9.00'
  const facts = [`Status: ${status}`, `Price: ${price} per month`, `Period started: ${start}`]
  return [plan, ...facts, end]
}

async function cancel(): Promise<void> {
  const { page, open, press } = grace
  await open('/app/billing')
  await page.click('summary:has-text("Cancel…")')
  await press('Cancel at the end of the period')
  await page.waitForSelector('text=It stays active until the end of the period')
}

async function shows(expected: readonly string[]): Promise<void> {
  assert.deepEqual(await shownPlan(grace), expected)
}

async function lastInvoice(): Promise<string | undefined> {
  return (await shownInvoices(grace)).at(-1)
}
