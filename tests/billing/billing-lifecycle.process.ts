import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type Stripe from 'stripe'
import * as v from 'valibot'
import {
  CancelResponse,
  CheckoutResponse,
  ProrationPreview,
  SubscriptionResponse,
} from '../../lib/contract/billing/billing-schemas.ts'
import { type Running, storedBytes } from '../support/process.ts'
import {
  ask,
  CAP,
  meteredUnits,
  openServerShop,
  type ServerShop,
  SUBSCRIPTION,
  until,
} from './server-shop.ts'

/*
 * A plan from the first checkout to the end of its period, on a server as users run it. The
 * server's clock is real; only the double sees the month pass. The upgrade costs seven cents per
 * second, so a change that is charged as of another moment than its preview costs a different
 * amount.
 */

const UNITS = 7
const CARD = '4242 4242 4242 4242'
const HOUR = 3_600

const ClientSecret = v.object({ clientSecret: v.string() })
const Page = v.object({ url: v.string() })

let shop: ServerShop
let server: Running
let key: string
before(async () => {
  shop = await openServerShop({ starter: 90_000, pro: 290_000 })
  key = await shop.addUser('ada@example.com')
  server = await shop.start({ MERIDIAN_LOG_LEVEL: 'trace' })
  shop.double.addWebhook(`${server.url}/v1/billing/webhook`, [shop.signingSecret])
})
after(() => shop[Symbol.asyncDispose]())

/** Texts that must be neither stored nor logged. */
const secrets = new Map<string, string>()

async function send(method: string, path: string, body?: object): Promise<unknown> {
  const answer = await ask(server, key, { method, path, ...(body !== undefined && { body }) })
  assert.ok(answer.status === 200 || answer.status === 201, answer.text)
  return answer.body
}

/** Plan and status as the user sees them, once all events have arrived. */
async function state(): Promise<string> {
  await shop.double.settled()
  const { plan, subscription } = v.parse(SubscriptionResponse, await send('GET', SUBSCRIPTION))
  return `${plan.id} ${subscription?.status ?? 'none'}`
}

function invoices(): Stripe.Invoice[] {
  return [...shop.double.world.state.tables.invoices.values()]
}

describe('the life of a subscription', () => {
  it('starts with the free plan, which cannot be canceled', async () => {
    assert.equal(await state(), 'free none')
    const { status } = await ask(server, key, { method: 'DELETE', path: SUBSCRIPTION })
    assert.equal(status, 404)
  })

  it('sells a plan on the checkout page', async () => {
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

  it('charges what the preview showed for a larger plan', async () => {
    const preview = await send('GET', `${SUBSCRIPTION}/preview?planId=pro`)
    const { amountDue, prorationDate } = v.parse(ProrationPreview, preview)
    assert.ok(amountDue > 19_000_000 && amountDue <= 20_000_000, `${amountDue}`)
    await until(() => shop.double.now() > Date.parse(prorationDate) / 1000 + 1)
    await send('PUT', SUBSCRIPTION, { planId: 'pro' })
    assert.equal(await state(), 'pro active')
    assert.equal(invoices().length, 2)
    assert.equal(invoices().at(-1)?.amount_paid, amountDue)
  })

  it('charges per request over the cap', async () => {
    await send('PATCH', SUBSCRIPTION, { overagesEnabled: true })
    for (let n = 0; n < CAP + UNITS; n++) {
      const answer = await ask(server, key, { method: 'GET', path: '/v1/ip/81.2.69.160' })
      assert.equal(answer.status, 200)
      assert.ok(!answer.text.includes('"degraded":true'))
    }
    await until(() => meteredUnits(shop) >= UNITS)
    assert.equal(meteredUnits(shop), UNITS)
  })

  it('sets card, address and tax id', async () => {
    const intent = await send('POST', '/v1/billing/setup-intent')
    secrets.set('secret of a setup', v.parse(ClientSecret, intent).clientSecret)
    secrets.set('portal', v.parse(Page, await send('POST', '/v1/billing/portal')).url)
    const card = { type: 'card', card: { token: 'tok_mastercard' } } as const
    const { id: paymentMethodId } = await shop.stripe.paymentMethods.create(card)
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

  it('can be canceled, reactivated and canceled again', async () => {
    const { cancelAt } = v.parse(CancelResponse, await send('DELETE', SUBSCRIPTION))
    assert.equal(await state(), 'pro canceling')
    await send('POST', `${SUBSCRIPTION}/reactivate`)
    assert.equal(await state(), 'pro active')
    const again = v.parse(CancelResponse, await send('DELETE', SUBSCRIPTION))
    assert.equal(again.cancelAt, cancelAt)
    assert.equal(await state(), 'pro canceling')
  })

  it('ends with the free plan and an invoice for the requests over the cap', async () => {
    const [subscription] = shop.double.world.state.tables.subscriptions.values()
    const end = subscription?.cancel_at ?? 0
    shop.double.advance(end - shop.double.now() - 60)
    assert.equal(await state(), 'pro canceling')
    shop.double.advance(60)
    assert.equal(await state(), 'free none')
    shop.double.advance(2 * HOUR)
    assert.equal(await state(), 'free none')
    const [, , last, ...others] = invoices()
    assert.deepEqual(others, [])
    assert.equal(last?.status, 'paid')
    assert.deepEqual(
      last.lines.data.map(({ quantity }) => quantity),
      [UNITS],
    )
    assert.equal(meteredUnits(shop), UNITS)
  })

  it('leaves no secret in the log, the audit log or the database', async () => {
    const running = storedBytes(shop.dataDir)
    const { code, stdout, stderr } = await server.stop('SIGTERM')
    assert.equal(code, 0, stderr)
    const { customers, paymentMethods } = shop.double.world.state.tables
    const [customer = ''] = customers.keys()
    // The search works: it finds texts that are there.
    assert.ok(running.includes(customer))
    assert.match(stdout, /a call to Stripe failed/)
    assert.match(stdout, /"route":"\/v1\/billing\/setup-intent"/)
    const cards = [...paymentMethods.keys()].map((id): [string, string] => ['card', id])
    assert.ok(cards.length > 1)
    const texts: [string, string][] = [
      ['key of Stripe', shop.secretKey],
      ['signing secret', shop.signingSecret],
      ['number of the card', CARD],
      ['number of the card without spaces', CARD.replaceAll(' ', '')],
      ...cards,
      ...secrets,
    ]
    for (const [name, secret] of texts) {
      assert.ok(secret.length > 10, name)
      for (const [where, bytes] of [
        ['database', running],
        ['stopped database', storedBytes(shop.dataDir)],
        ['output', Buffer.from(stdout)],
        ['errors', Buffer.from(stderr)],
      ] as const) {
        assert.equal(bytes.includes(secret), false, `${name} in the ${where}`)
      }
    }
  })
})
