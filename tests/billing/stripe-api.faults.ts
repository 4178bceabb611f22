import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { ApiFault } from '../../stripe-double/http/api-faults.ts'
import { openShop, type Shop, SUBSCRIPTION } from '../billing/shop.ts'
import { codeOf, recordingLog } from '../helpers.ts'

/** Before anything is done, or after it. */
const FAULTS: readonly ApiFault[] = [
  { kind: '429' },
  { kind: '500' },
  { kind: 'reset' },
  { kind: 'lost' },
]

/** The SDK sends a call again whose connection was cut. */
const TRIES = 2
/** No action has more. */
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

describe('trouble with the payment processor', () => {
  for (const fault of FAULTS) {
    it(`(${fault.kind}) is 503 at whichever call, and the action is done once all the same`, async () => {
      await using shop = await openShop()
      const { id } = await shop.buy('starter')
      for (const action of ACTIONS) {
        const before = countInvoices(shop)
        await tryAtEachCall(shop, action, fault)
        assert.equal(await send(shop, action), '200')
        assert.equal(countInvoices(shop) - before, action[0] === 'PUT' ? 1 : 0)
        await requireAsTold(shop, id)
      }
    })
  }

  it('(slow) is 503 within the time limit, and what was done late is known by its event', async () => {
    await using shop = await openShop({ timeLimitMs: LIMIT_MS })
    const { id } = await shop.buy('starter')
    for (const good of [0, 1]) {
      assert.equal(await tryAt(shop, CANCEL, { good, fault: TOO_SLOW }), 'BILLING_UNAVAILABLE')
    }
    while (shop.told(id).cancel_at === null) await setTimeout(50)
    await requireAsTold(shop, id)
    assert.equal(await send(shop, CANCEL), '200')
  })

  it('does not touch look-ups, nor what is known without asking', async () => {
    await using shop = await openShop({ timeLimitMs: LIMIT_MS })
    shop.double.failCalls(TOO_SLOW)
    const slow = send(shop, ['POST', SUBSCRIPTION, { planId: 'pro' }])
    assert.equal(await send(shop, ['GET', '/v1/ip/81.2.69.160']), '200')
    assert.equal(await send(shop, ['GET', SUBSCRIPTION]), '200')
    assert.equal(await send(shop, CANCEL), 'NO_ACTIVE_SUBSCRIPTION')
    assert.equal(await slow, 'BILLING_UNAVAILABLE')
  })

  it('of our own making, such as a price that is gone, is 503 and told to the log', async () => {
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

/** The code of the error, or the status. */
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

/** Lets `good` calls of the action pass and the next one fail. */
async function tryAt(
  shop: Shop,
  action: Action,
  { good, fault }: { good: number; fault: ApiFault },
): Promise<string> {
  const { double } = shop
  for (let passed = 0; passed < good; passed++) double.failCalls({ kind: 'slow', delayMs: 0 })
  double.failCalls(fault, TRIES)
  const outcome = await send(shop, action)
  double.clearFaults()
  return outcome
}

function countInvoices({ double }: Shop): number {
  return double.world.state.tables.invoices.size
}

/** Once its events have come, we know the subscription as the double has it. */
async function requireAsTold(shop: Shop, id: string): Promise<void> {
  await shop.settled()
  const row = await shop.row()
  const told = shop.told(id)
  const { starter, pro } = shop.prices
  assert.equal(row?.id, id)
  assert.equal(told.items.data[0]?.price.id, row.plan === 'pro' ? pro : starter)
  assert.equal(row.cancelAt, told.cancel_at === null ? null : told.cancel_at * 1000)
}
