import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type Stripe from 'stripe'
import { type SubscriptionRow, statusOf } from '../../../lib/billing/subscription/subscriptions.ts'
import { codeOf } from '../../support/helpers.ts'
import { openShop, type Shop, SUBSCRIPTION } from '../shop.ts'

/*
 * Tests every operation on subscriptions in every status that Stripe knows, with both ways to mark a
 * subscription as canceled: the answer, and the subscription after the operation.
 */

type Mark = 'none' | 'at-period-end' | 'at'

interface State {
  readonly status: Stripe.Subscription.Status
  readonly mark: Mark
}

type Outcome = readonly [answer: string, next: string]

const OPERATIONS = {
  checkout: ['POST', SUBSCRIPTION, { planId: 'pro' }],
  'change to another plan': ['PUT', SUBSCRIPTION, { planId: 'pro' }],
  'change to the same plan': ['PUT', SUBSCRIPTION, { planId: 'starter' }],
  preview: ['GET', `${SUBSCRIPTION}/preview?planId=pro`],
  cancel: ['DELETE', SUBSCRIPTION],
  reactivate: ['POST', `${SUBSCRIPTION}/reactivate`],
} as const
type Operation = keyof typeof OPERATIONS

const NONE = '404 NO_ACTIVE_SUBSCRIPTION'
const TAKEN = '400 ALREADY_SUBSCRIBED'

/** `status` is the status before, `kept` after reactivation. */
function withAccess(status: string, kept = status): Record<Operation, Outcome> {
  return {
    checkout: [TAKEN, `starter ${status}`],
    'change to another plan': ['200', `pro ${status}`],
    'change to the same plan': ['200', `starter ${status}`],
    preview: ['200', `starter ${status}`],
    cancel: ['200', 'starter canceling'],
    reactivate: ['200', `starter ${kept}`],
  }
}

/** Pro has no trial here, and costs more. */
function asTrial(): Record<Operation, Outcome> {
  return { ...withAccess('trialing'), 'change to another plan': ['200', 'pro active'] }
}

/** Pro would be charged for a month that ends with the trial. */
function asEndingTrial(): Record<Operation, Outcome> {
  const unchanged = ['400 BAD_REQUEST', 'starter canceling'] as const
  const rest = withAccess('canceling', 'trialing')
  return { ...rest, 'change to another plan': unchanged, preview: unchanged }
}

/** No credit for time that is not paid. */
function withOpenInvoice(status: string, kept = status): Record<Operation, Outcome> {
  const unchanged = ['400 PAYMENT_FAILED', `starter ${status}`] as const
  const rest = withAccess(status, kept)
  return { ...rest, 'change to another plan': unchanged, preview: unchanged }
}

function withoutAccess(next: string): Record<Operation, Outcome> {
  return {
    checkout: ['200', 'none'],
    'change to another plan': [NONE, next],
    'change to the same plan': [NONE, next],
    preview: [NONE, next],
    cancel: [NONE, next],
    reactivate: [NONE, next],
  }
}

const TABLE: readonly (readonly [State, Record<Operation, Outcome>])[] = [
  [{ status: 'active', mark: 'none' }, withAccess('active')],
  [{ status: 'active', mark: 'at-period-end' }, withAccess('canceling', 'active')],
  [{ status: 'active', mark: 'at' }, withAccess('canceling', 'active')],
  [{ status: 'trialing', mark: 'none' }, asTrial()],
  [{ status: 'trialing', mark: 'at' }, asEndingTrial()],
  [{ status: 'past_due', mark: 'none' }, withOpenInvoice('past_due')],
  [{ status: 'past_due', mark: 'at-period-end' }, withOpenInvoice('canceling', 'past_due')],
  [{ status: 'incomplete', mark: 'none' }, withoutAccess('starter incomplete')],
  [{ status: 'unpaid', mark: 'none' }, withoutAccess('none')],
  [{ status: 'paused', mark: 'none' }, withoutAccess('starter paused')],
  [{ status: 'incomplete_expired', mark: 'none' }, withoutAccess('none')],
  [{ status: 'canceled', mark: 'none' }, withoutAccess('none')],
]

let shop: Shop
let bought: Stripe.Subscription
before(async () => {
  shop = await openShop()
  bought = shop.atStripe((await shop.buy('starter')).id)
})
after(() => shop[Symbol.asyncDispose]())

describe('a subscription', () => {
  for (const [state, outcomes] of TABLE) {
    for (const operation of Object.keys(OPERATIONS) as Operation[]) {
      const [answer, next] = outcomes[operation]
      it(`that is ${nameOf(state)}: ${operation} is ${answer}, then it is ${next}`, async () => {
        await setState(state)
        const [method, path, body] = OPERATIONS[operation]
        const { status, body: answered } = await shop.send(method, path, body)
        assert.equal(status === 200 ? '200' : `${status} ${codeOf({ body: answered })}`, answer)
        assert.equal(summaryOf(await shop.row()), next)
        await shop.settled()
        assert.equal(summaryOf(await shop.row()), next)
      })
    }
  }
})

/** Puts the subscription at Stripe into this state, and lets its event arrive. */
async function setState({ status, mark }: State): Promise<void> {
  const { subscriptions } = shop.double.world.state.tables
  const isEnded = status === 'canceled' || status === 'incomplete_expired'
  const now = shop.double.now()
  const end = bought.items.data[0]?.current_period_end ?? 0
  const row: Stripe.Subscription = {
    ...bought,
    status,
    ended_at: isEnded ? now : null,
    cancel_at: mark === 'none' ? null : end,
    cancel_at_period_end: mark === 'at-period-end',
  }
  subscriptions.set(row.id, row)
  shop.double.emit('customer.subscription.updated', row)
  await shop.settled()
}

function nameOf({ status, mark }: State): string {
  return mark === 'none' ? status : `${status} and marked by cancel_${mark.replaceAll('-', '_')}`
}

function summaryOf(row: SubscriptionRow | null): string {
  return row === null ? 'none' : `${row.plan} ${statusOf(row)}`
}
