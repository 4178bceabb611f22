import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  ask,
  CAP,
  meteredUnits,
  openServerShop,
  type Sent,
  type ServerShop,
  SUBSCRIPTION,
  until,
} from '../../billing/server-shop.ts'
import { type Running, runScript } from '../../support/process.ts'

// run: only on Node.js

const EMAIL = 'ada@example.com'
const BUY: Sent = { method: 'POST', path: SUBSCRIPTION, body: { planId: 'pro' } }
const LOOK_UP: Sent = { method: 'GET', path: '/v1/ip/81.2.69.160' }
const ME: Sent = { method: 'GET', path: '/v1/account/me' }
const DELETED = { code: 0, stdout: '', stderr: `Deleted the account ${EMAIL}\n` }

/** Stripe does not answer the command: only the server can end what is paid there. */
const deleteUser = ({ settings }: ServerShop) =>
  runScript(['scripts/user.ts', '--email', EMAIL, '--delete', '--yes'], {
    ...settings,
    STRIPE_API_BASE: 'http://127.0.0.1:1',
  })

const sessions = ({ double }: ServerShop) => [...double.world.state.tables.sessions.values()]

async function subscribe(shop: ServerShop, server: Running, key: string): Promise<void> {
  await ask(server, key, BUY)
  shop.double.payCheckout(sessions(shop)[0]?.id ?? '', { card: 'pm_card_visa' })
  const read: Sent = { method: 'GET', path: `${SUBSCRIPTION}?refresh=true` }
  await until(async () => (await ask(server, key, read)).text.includes('"status":"active"'))
}

describe('npm run user -- --delete beside a running server', () => {
  it('has the server report the overages that it counted, and end the subscription', async () => {
    await using shop = await openServerShop({ starter: 1, pro: 2 })
    const key = await shop.addUser(EMAIL)
    const server = await shop.start()
    await subscribe(shop, server, key)
    const on: Sent = { method: 'PATCH', path: SUBSCRIPTION, body: { overagesEnabled: true } }
    assert.equal((await ask(server, key, on)).status, 200)
    for (let n = 0; n < CAP + 7; n += 1) await ask(server, key, LOOK_UP)
    assert.deepEqual(await deleteUser(shop), DELETED)
    assert.equal(meteredUnits(shop), 7)
    const [subscription] = shop.double.world.state.tables.subscriptions.values()
    assert.equal(subscription?.status, 'canceled')
    assert.equal((await ask(server, key, ME)).status, 401)
  })

  it('leaves no payment page that the server was about to open', async () => {
    await using shop = await openServerShop({ starter: 1, pro: 2 })
    const key = await shop.addUser(EMAIL)
    const server = await shop.start()
    await ask(server, key, BUY)
    shop.double.failCalls({ kind: 'slow', delayMs: 5_000, method: 'POST' })
    const [bought, deleted] = await Promise.all([ask(server, key, BUY), deleteUser(shop)])
    assert.ok([200, 401].includes(bought.status), bought.text)
    assert.deepEqual(deleted, DELETED)
    assert.deepEqual(new Set(sessions(shop).map(({ status }) => status)), new Set(['expired']))
  })

  it('says why the server refuses, and leaves nothing to be deleted later', async () => {
    await using shop = await openServerShop({ starter: 1, pro: 2 })
    const key = await shop.addUser(EMAIL)
    const server = await shop.start()
    await subscribe(shop, server, key)
    shop.double.failCalls({ kind: '403' }, 100)
    const { code, stderr } = await deleteUser(shop)
    assert.equal(code, 1)
    assert.match(stderr, /The server refuses: Stripe does not allow/)
    shop.double.clearFaults()
    assert.equal((await ask(server, key, ME)).status, 200)
    assert.deepEqual(await deleteUser(shop), DELETED)
  })
})
