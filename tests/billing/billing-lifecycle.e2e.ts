import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type Stripe from 'stripe'
import * as v from 'valibot'
import {
  CancelResponse,
  CheckoutResponse,
  ProrationPreview,
  SubscriptionResponse,
} from '../../lib/contract/billing-schemas.ts'
import { type Running, storedBytes } from './process.ts'
import { ask, CAP, meteredUnits, openStore, type Store, SUBSCRIPTION, until } from './store.ts'

/*
 * A plan from the first checkout to the end of its period, with a server as users run it: its clock
 * is the real one, and only the double sees the month pass. A second of a plan costs seven cents, so
 * that a change that is charged for another moment than its preview costs another amount.
 */

const UNITS = 7
const CARD = '4242 4242 4242 4242'
const HOUR = 3_600

const ClientSecret = v.object({ clientSecret: v.string() })
const Page = v.object({ url: v.string() })

let store: Store
let server: Running
let key: string
before(async () => {
  store = await openStore({ starter: 90_000, pro: 290_000 })
  key = await store.addUser('ada@example.com')
  server = await store.start({ MERIDIAN_LOG_LEVEL: 'trace' })
  store.double.addWebhook(`${server.url}/v1/billing/webhook`, [store.signingSecret])
})
after(() => store[Symbol.asyncDispose]())

/** What may stand nowhere. */
const secrets = new Map<string, string>()

async function send(method: string, path: string, body?: object): Promise<unknown> {
  const answer = await ask(server, key, { method, path, ...(body !== undefined && { body }) })
  assert.ok(answer.status === 200 || answer.status === 201, answer.text)
  return answer.body
}

/** As the user is told, once all events have come. */
async function state(): Promise<string> {
  await store.double.settled()
  const { plan, subscription } = v.parse(SubscriptionResponse, await send('GET', SUBSCRIPTION))
  return `${plan.id} ${subscription?.status ?? 'none'}`
}

function invoices(): Stripe.Invoice[] {
  return [...store.double.world.state.tables.invoices.values()]
}

describe('a user of a server beside Stripe', () => {
  it('has the free plan, and may change nothing', async () => {
    assert.equal(await state(), 'free none')
    const { status } = await ask(server, key, { method: 'DELETE', path: SUBSCRIPTION })
    assert.equal(status, 404)
  })

  it('buys a plan on the page of the checkout', async () => {
    const wish = { planId: 'starter' }
    const embedded = await send('POST', SUBSCRIPTION, { ...wish, embedded: true })
    secrets.set('secret of a checkout', v.parse(ClientSecret, embedded).clientSecret)
    const { url = '' } = v.parse(CheckoutResponse, await send('POST', SUBSCRIPTION, wish))
    secrets.set('page of a checkout', url)
    const body = new URLSearchParams({ card: CARD })
    const paid = await fetch(url, { method: 'POST', body, redirect: 'manual' })
    assert.equal(paid.status, 303)
    assert.equal(await state(), 'starter active')
    assert.deepEqual(
      invoices().map(({ amount_paid }) => amount_paid),
      [9_000_000],
    )
  })

  it('is charged for a larger plan what its preview told', async () => {
    const preview = await send('GET', `${SUBSCRIPTION}/preview?planId=pro`)
    const { amountDue, prorationDate } = v.parse(ProrationPreview, preview)
    assert.ok(amountDue > 19_000_000 && amountDue <= 20_000_000, `${amountDue}`)
    await until(() => store.double.now() > Date.parse(prorationDate) / 1000 + 1)
    await send('PUT', SUBSCRIPTION, { planId: 'pro' })
    assert.equal(await state(), 'pro active')
    assert.equal(invoices().length, 2)
    assert.equal(invoices().at(-1)?.amount_paid, amountDue)
  })

  it('pays by the piece for what is over the cap', async () => {
    await send('PATCH', SUBSCRIPTION, { overagesEnabled: true })
    for (let n = 0; n < CAP + UNITS; n++) {
      const answer = await ask(server, key, { method: 'GET', path: '/v1/ip/81.2.69.160' })
      assert.equal(answer.status, 200)
      assert.ok(!answer.text.includes('"degraded":true'))
    }
    await until(() => meteredUnits(store) >= UNITS)
    assert.equal(meteredUnits(store), UNITS)
  })

  it('sees to card, address and tax id, and leaves no trace of them', async () => {
    const intent = await send('POST', '/v1/billing/setup-intent')
    secrets.set('secret of a setup', v.parse(ClientSecret, intent).clientSecret)
    secrets.set('portal', v.parse(Page, await send('POST', '/v1/billing/portal')).url)
    const card = { type: 'card', card: { token: 'tok_mastercard' } } as const
    const { id: paymentMethodId } = await store.stripe.paymentMethods.create(card)
    await send('POST', '/v1/billing/payment-method', { paymentMethodId })
    const unknown = { paymentMethodId: `pm_${crypto.randomUUID().replaceAll('-', '')}` }
    const path = '/v1/billing/payment-method'
    const refused = await ask(server, key, { method: 'POST', path, body: unknown })
    assert.equal(refused.status, 400)
    const address = { line1: `${crypto.randomUUID()} Street`, country: 'GB' }
    await send('PUT', '/v1/billing/address', address)
    const taxId = { type: 'eu_vat', value: 'DE123456789' }
    await send('POST', '/v1/billing/tax-ids', taxId)
    secrets.set('unknown card', unknown.paymentMethodId)
    secrets.set('address', address.line1).set('tax id', taxId.value)
  })

  it('cancels, comes back, and cancels again', async () => {
    const { cancelAt } = v.parse(CancelResponse, await send('DELETE', SUBSCRIPTION))
    assert.equal(await state(), 'pro canceling')
    await send('POST', `${SUBSCRIPTION}/reactivate`)
    assert.equal(await state(), 'pro active')
    const again = v.parse(CancelResponse, await send('DELETE', SUBSCRIPTION))
    assert.equal(again.cancelAt, cancelAt)
    assert.equal(await state(), 'pro canceling')
  })

  it('has the free plan again when the period ends, and pays what was over the cap', async () => {
    const [subscription] = store.double.world.state.tables.subscriptions.values()
    const end = subscription?.cancel_at ?? 0
    store.double.advance(end - store.double.now() - 60)
    assert.equal(await state(), 'pro canceling')
    store.double.advance(60)
    assert.equal(await state(), 'free none')
    store.double.advance(2 * HOUR)
    assert.equal(await state(), 'free none')
    const [, , last, ...others] = invoices()
    assert.deepEqual(others, [])
    assert.equal(last?.status, 'paid')
    assert.deepEqual(
      last.lines.data.map(({ quantity }) => quantity),
      [UNITS],
    )
    assert.equal(meteredUnits(store), UNITS)
  })

  it('has left nothing secret in log, audit log and database', async () => {
    const running = storedBytes(store.dataDir)
    const { code, stdout, stderr } = await server.stop('SIGTERM')
    assert.equal(code, 0, stderr)
    const { customers, paymentMethods } = store.double.world.state.tables
    const [customer = ''] = customers.keys()
    // What is looked for could be found.
    assert.ok(running.includes(customer))
    assert.match(stdout, /trouble with the payment processor/)
    assert.match(stdout, /"route":"\/v1\/billing\/setup-intent"/)
    const cards = [...paymentMethods.keys()].map((id): [string, string] => ['card', id])
    assert.ok(cards.length > 1)
    const texts: [string, string][] = [
      ['key of Stripe', store.secretKey],
      ['signing secret', store.signingSecret],
      ['number of the card', CARD],
      ['number of the card without spaces', CARD.replaceAll(' ', '')],
      ...cards,
      ...secrets,
    ]
    for (const [name, secret] of texts) {
      assert.ok(secret.length > 10, name)
      for (const [where, bytes] of [
        ['database', running],
        ['stopped database', storedBytes(store.dataDir)],
        ['output', Buffer.from(stdout)],
        ['errors', Buffer.from(stderr)],
      ] as const) {
        assert.equal(bytes.includes(secret), false, `${name} in the ${where}`)
      }
    }
  })
})
