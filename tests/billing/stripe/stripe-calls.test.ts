import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type Stripe from 'stripe'
import { beginCalls, DEFAULT_RETRY_POLICY } from '../../../lib/billing/stripe/stripe-calls.ts'
import {
  ConfirmationNeeded,
  StripeStoredFailure,
} from '../../../lib/billing/stripe/stripe-refusal.ts'
import { createStripe } from '../../../lib/billing/stripe/stripe-sdk.ts'
import { ApiError } from '../../../lib/parts/errors.ts'
import type { ApiFault } from '../../../stripe-double/http/api-faults.ts'
import { newSecretKey } from '../../../stripe-double/ids.ts'
import { startDouble } from '../../stripe-double/start.ts'
import { freshly } from '../../support/scene/freshly.ts'

/** An action that waits by a clock of its own: a wait ends at once, and has taken its time. */
async function openAction() {
  const at = await startDouble()
  const waits: number[] = []
  const keys: (string | undefined)[] = []
  let now = 0
  const failures: unknown[] = []
  const stripe = createStripe({
    secretKey: newSecretKey(),
    apiBase: at.double.url,
    onFailure: (failure) => failures.push(failure),
  })
  stripe.sdk.on('request', (event: Stripe.RequestEvent) => keys.push(event.idempotency_key))
  const begin = () =>
    beginCalls(async () => stripe, {
      ...DEFAULT_RETRY_POLICY,
      now: () => now,
      wait: async (ms) => {
        waits.push(ms)
        now += ms
      },
    })
  return {
    ...at,
    begin,
    waits,
    /** The idempotency key of each attempt. */
    keys,
    failures,
    pass: (ms: number) => {
      now += ms
    },
    create: ({ customers }: Stripe, options?: Stripe.RequestOptions) =>
      customers.create({ email: 'ada@example.com' }, options),
  }
}

const PASSING: readonly ApiFault[] = [
  { kind: '429' },
  { kind: 'locked' },
  { kind: 'reset' },
  { kind: 'lost' },
  { kind: 'answer', status: 200, text: '<html>' },
  { kind: 'answer', status: 503, text: 'Service unavailable' },
  { kind: 'answer', status: 404, text: 'Not found' },
]
const FINAL: readonly ApiFault[] = [
  { kind: '403' },
  { kind: '429', shouldRetry: false },
  { kind: 'locked', shouldRetry: false },
  // Stripe keeps this answer, and says so.
  { kind: '500' },
]

describe('a call to Stripe', () => {
  const at = freshly(openAction)

  for (const fault of PASSING) {
    it(`is repeated with the same key, ever later: ${JSON.stringify(fault)}`, async () => {
      await using at = await openAction()
      at.double.failCalls(fault, 4)
      const { id } = await at.create(at.begin())
      assert.deepEqual([...at.double.world.state.tables.customers.keys()], [id])
      assert.equal(at.keys.length, 5)
      assert.equal(new Set(at.keys).size, 1)
      for (const [n, longest] of [250, 500, 1_000, 2_000].entries()) {
        const wait = at.waits[n] ?? 0
        assert.ok(wait >= longest / 2 && wait <= longest, `${at.waits}`)
      }
      assert.deepEqual(at.failures, [])
    })

    it(`fails after five tries, and is logged once: ${JSON.stringify(fault)}`, async () => {
      at.double.failCalls(fault, 5)
      await assert.rejects(at.create(at.begin()), { code: 'BILLING_UNAVAILABLE' })
      assert.equal(at.keys.length, 5)
      assert.equal(at.failures.length, 1)
    })
  }

  for (const fault of FINAL) {
    it(`is not repeated: ${JSON.stringify(fault)}`, async () => {
      at.double.failCalls(fault)
      await assert.rejects(at.create(at.begin()), ApiError)
      assert.equal(at.keys.length, 1)
      assert.deepEqual(at.waits, [])
    })
  }

  it('is not repeated if its parameters, or the card, were refused', async () => {
    const calls = at.begin()
    const missing = calls.customers.retrieve('cus_none')
    await assert.rejects(missing, { reason: 'resource_missing' })
    const customer = (await at.stripe.customers.create()).id
    const declined = calls.paymentMethods.attach('pm_card_visa_chargeDeclined', { customer })
    await assert.rejects(declined, { code: 'PAYMENT_FAILED' })
    assert.equal(at.keys.length, 2)
  })

  it('that reads is repeated after a 500, unless Stripe advises against it', async () => {
    const list = () => at.begin().customers.list()
    at.double.failCalls({ kind: '500' }, 2)
    assert.deepEqual((await list()).data, [])
    assert.equal(at.waits.length, 2)
    at.double.failCalls({ kind: '500', shouldRetry: false })
    await assert.rejects(list(), { code: 'BILLING_UNAVAILABLE' })
    assert.equal(at.waits.length, 2)
  })

  it('is not repeated when the time limit of the action would pass', async () => {
    const calls = at.begin()
    at.pass(DEFAULT_RETRY_POLICY.limitMs - 100)
    at.double.failCalls({ kind: '429' })
    await assert.rejects(at.create(calls), { code: 'BILLING_UNAVAILABLE' })
    assert.deepEqual(at.waits, [])
    at.pass(100)
    await assert.rejects(at.create(calls), { code: 'BILLING_UNAVAILABLE' })
    assert.equal(at.keys.length, 1)
  })

  it('waits while another call with its key runs', async () => {
    await using at = await openAction()
    const calls = at.begin()
    const one = { idempotencyKey: 'one' }
    at.double.failCalls({ kind: 'slow', delayMs: 200 })
    const both = await Promise.allSettled([at.create(calls, one), at.create(calls, one)])
    const made = both.flatMap((outcome) =>
      outcome.status === 'fulfilled' ? [outcome.value.id] : [],
    )
    assert.ok(made.length > 0)
    assert.deepEqual([...new Set(made)], [...at.double.world.state.tables.customers.keys()])
  })

  it('that gets a stored failure from Stripe throws another error than one that fails anew', async () => {
    at.double.failCalls({ kind: '500' })
    const first = at.create(at.begin(), { idempotencyKey: 'one' })
    await assert.rejects(first, (error) => !(error instanceof StripeStoredFailure))
    const again = at.create(at.begin(), { idempotencyKey: 'one' })
    await assert.rejects(again, StripeStoredFailure)
    assert.equal(at.keys.length, 2)
  })
})

describe('a bank that asks for a confirmation', () => {
  const at = freshly(openAction)

  it('is recognised by the code, whatever the type of the error', async () => {
    for (const [type, status] of [
      ['card_error', 402],
      ['invalid_request_error', 400],
    ] as const) {
      const code = 'invoice_payment_intent_requires_action'
      const text = JSON.stringify({ error: { type, code, message: 'Confirm it' } })
      at.double.failCalls({ kind: 'answer', status, text })
      await assert.rejects(at.create(at.begin()), ConfirmationNeeded)
    }
  })
})
