import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { ApiFault } from '../../stripe-double/http/api-faults.ts'
import { codeOf, recordingLog } from '../support/helpers.ts'
import { openShop, type Shop, SUBSCRIPTION } from './shop.ts'

// run: only on Node.js

/** Some occur before Stripe runs the call, some after. */
const FAULTS: readonly ApiFault[] = [
  { kind: '429' },
  { kind: '500' },
  { kind: 'reset' },
  { kind: 'lost' },
]

/** No action makes more calls. */
const CALLS = 4

const CANCEL = ['DELETE', SUBSCRIPTION] as const
const ACTIONS = [
  CANCEL,
  ['POST', `${SUBSCRIPTION}/reactivate`],
  ['PUT', SUBSCRIPTION, { planId: 'pro' }],
  ['GET', `${SUBSCRIPTION}/preview?planId=starter`],
  ['PUT', SUBSCRIPTION, { planId: 'starter' }],
  CANCEL,
] as const
type Action = (typeof ACTIONS)[number]

const LIMIT_MS = 2_000
const TOO_SLOW: ApiFault = { kind: 'slow', delayMs: 3 * LIMIT_MS }

describe('a failure of Stripe', () => {
  for (const fault of FAULTS) {
    it(`(${fault.kind}) is 503 at whichever call it occurs, and the repeated action takes effect once`, async () => {
      await using shop = await openShop()
      const { id } = await shop.buy('starter')
      for (const action of ACTIONS) {
        const before = countInvoices(shop)
        await tryAtEachCall(shop, action, fault)
        assert.equal(await send(shop, action), '200')
        assert.equal(countInvoices(shop) - before, action[0] === 'PUT' ? 1 : 0)
        await requireInSync(shop, id)
      }
    })
  }

  it('(slow) is 503 within the time limit, and an event reports what Stripe did late', async () => {
    await using shop = await openShop({ retryPolicy: { limitMs: LIMIT_MS } })
    const { id } = await shop.buy('starter')
    for (const good of [0, 1]) {
      assert.equal(await tryAt(shop, CANCEL, { good, fault: TOO_SLOW }), 'BILLING_UNAVAILABLE')
    }
    while (shop.atStripe(id).cancel_at === null) await setTimeout(50)
    await requireInSync(shop, id)
    assert.equal(await send(shop, CANCEL), '200')
  })

  it('does not affect look-ups, nor answers that need no call', async () => {
    await using shop = await openShop({ retryPolicy: { limitMs: LIMIT_MS } })
    shop.double.failCalls(TOO_SLOW)
    const slow = send(shop, ['POST', SUBSCRIPTION, { planId: 'pro' }])
    assert.equal(await send(shop, ['GET', '/v1/ip/81.2.69.160']), '200')
    assert.equal(await send(shop, ['GET', SUBSCRIPTION]), '200')
    assert.equal(await send(shop, CANCEL), 'NO_ACTIVE_SUBSCRIPTION')
    assert.equal(await slow, 'BILLING_UNAVAILABLE')
  })

  it('that our own settings cause, such as a missing price, is 503 and logged', async () => {
    const log = recordingLog()
    await using shop = await openShop({ log, env: { STRIPE_PRICE_PRO: 'price_gone' } })
    const wish = ['POST', SUBSCRIPTION, { planId: 'pro' }] as const
    assert.equal(await send(shop, wish), 'BILLING_UNAVAILABLE')
    const fields = log.events.filter(({ level }) => level === 'error').map((event) => event.fields)
    assert.equal(fields.length, 1)
    assert.deepEqual(
      { ...fields[0], processorRequestId: '' },
      {
        type: 'StripeInvalidRequestError',
        code: 'resource_missing',
        param: 'line_items[0][price]',
        status: 400,
        processorRequestId: '',
      },
    )
  })
})

type Sent = Action | readonly [method: string, path: string, body?: object]

/** Returns the code of the error, or the status. */
async function send(shop: Shop, [method, path, body]: Sent): Promise<string> {
  const answer = await shop.send(method, path, body)
  return answer.status < 300 ? String(answer.status) : codeOf(answer)
}

async function tryAtEachCall(shop: Shop, action: Action, fault: ApiFault): Promise<void> {
  assert.equal(await tryAt(shop, action, { good: 0, fault }), 'BILLING_UNAVAILABLE')
  for (let good = 1; good < CALLS; good++) {
    assert.match(await tryAt(shop, action, { good, fault }), /^(BILLING_UNAVAILABLE|200)$/)
  }
}

/** Lets `good` calls of the action succeed and makes the next one fail. */
async function tryAt(
  shop: Shop,
  action: Action,
  { good, fault }: { good: number; fault: ApiFault },
): Promise<string> {
  const { double } = shop
  for (let passed = 0; passed < good; passed++) double.failCalls({ kind: 'slow', delayMs: 0 })
  double.failCalls(fault)
  const outcome = await send(shop, action)
  double.clearFaults()
  return outcome
}

function countInvoices({ double }: Shop): number {
  return double.world.state.tables.invoices.size
}

/** Checks that our subscription equals the double's, once all events have arrived. */
async function requireInSync(shop: Shop, id: string): Promise<void> {
  await shop.settled()
  const row = await shop.row()
  const theirs = shop.atStripe(id)
  const { starter, pro } = shop.prices
  assert.equal(row?.id, id)
  assert.equal(theirs.items.data[0]?.price.id, row.plan === 'pro' ? pro : starter)
  assert.equal(row.cancelAt, theirs.cancel_at === null ? null : theirs.cancel_at * 1000)
}
