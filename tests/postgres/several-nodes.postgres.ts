import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Stripe from 'stripe'
import * as v from 'valibot'
import { findUserByEmail } from '../../lib/accounts/users.ts'
import { createOpenDemo } from '../../lib/services/demo.ts'
import { environment, openShop, type Shop, WEBHOOK } from '../billing/shop.ts'
import { query, startPostgres } from '../support/database/postgres-server.ts'
import { openServerDatabase } from '../support/database/test-database.ts'
import { makeApp, type TestApp } from '../support/helpers.ts'
import { shared } from '../support/scene/freshly.ts'

const LOOK_UP = '/v1/ip/81.2.69.160'
const Usage = v.object({
  totalRequests: v.number(),
  dailyUsage: v.array(v.object({ requests: v.number() })),
})

const server = shared(() => startPostgres({ fsync: 'off' }))

it('several nodes that start at once make one demo key, with one entry in the audit log', async () => {
  await using closing = new AsyncDisposableStack()
  const url = await server.createDatabase()
  const apps: TestApp[] = []
  for (let node = 0; node < 3; node++) {
    apps.push(closing.use(await makeApp({ database: await openServerDatabase(url) })))
  }
  // Real nodes have their secrets from the database.
  const secrets = apps[0]?.services.secrets ?? assert.fail()
  const keys = await Promise.all(
    apps.map(({ services }) => createOpenDemo({ ...services, secrets }, services.keys)()),
  )
  assert.equal(new Set(keys).size, 1)
  assert.notEqual(keys[0], null)
  const entries = await query(url, "SELECT action FROM audit_log WHERE actor_id = 'demo'")
  assert.deepEqual(entries, [['create_key']])
})

describe('a user who sends requests to one node only', () => {
  const closing = new AsyncDisposableStack()
  let url: string
  let one: TestApp
  let other: TestApp
  let key: string
  before(async () => {
    url = await server.createDatabase()
    const open = async () => closing.use(await makeApp({ database: await openServerDatabase(url) }))
    one = await open()
    other = await open()
    key = await one.makeKey({ email: 'ada@example.com' })
    while (other.services.keys.find(key, 0) === null) await sleep(10)
  })
  after(() => closing.disposeAsync())

  const lookUp = async (app: TestApp, times: number) => {
    const headers = { 'x-api-key': key }
    for (let sent = 0; sent < times; sent++)
      assert.equal((await app.send('GET', LOOK_UP, { headers })).status, 200)
    await app.services.ledger.flush()
  }
  const readUsage = async (app: TestApp) => {
    const { body } = await app.send('GET', '/v1/account/me/usage', { key })
    const { totalRequests, dailyUsage } = v.parse(Usage, body)
    return { totalRequests, today: dailyUsage.at(-1)?.requests }
  }

  it('sees all of them on another node that knows the user already', async () => {
    await lookUp(one, 2)
    await lookUp(other, 3)
    assert.deepEqual(await readUsage(one), { totalRequests: 5, today: 5 })
    assert.deepEqual(await readUsage(other), { totalRequests: 5, today: 5 })
    await lookUp(other, 4)
    assert.deepEqual(await readUsage(one), { totalRequests: 9, today: 9 })
  })

  it('is billed for all of them by a node that the user has never used', async () => {
    await using third = await makeApp({ database: await openServerDatabase(url) })
    const user = await findUserByEmail(third.services.db, 'ada@example.com')
    const period = { start: Date.UTC(2026, 0, 1), end: Date.UTC(2026, 1, 1) }
    assert.equal(await third.services.billing.countRequests(user?.id ?? '', period), 9)
  })
})

/** Delivers the event to the node, as Stripe would. */
async function deliver(app: TestApp, { secrets, now }: Shop, event: object): Promise<number> {
  const body = JSON.stringify(event)
  const signed = { payload: body, secret: secrets[0] ?? '', timestamp: now() / 1000 }
  const signature = Stripe.webhooks.generateTestHeaderString(signed)
  const headers = { 'stripe-signature': signature }
  return (await app.send('POST', WEBHOOK, { body, headers })).status
}

describe('the events of a user that reach several nodes at once', () => {
  it('are applied one after the other, each exactly once', async () => {
    const url = await server.createDatabase()
    await using shop = await openShop({ database: await openServerDatabase(url) })
    await using other = await makeApp({
      database: await openServerDatabase(url),
      env: environment(shop.double, shop),
      now: shop.now,
    })
    const { id } = await shop.buy('pro')
    shop.newCalls()
    const events = Array.from({ length: 5 }, (_, at) => ({
      id: `evt_${at}`,
      object: 'event',
      type: 'customer.subscription.updated',
      data: { object: shop.atStripe(id) },
    }))
    const statuses = await Promise.all(
      events.flatMap((event) => [shop.app, other].map((app) => deliver(app, shop, event))),
    )
    assert.deepEqual(new Set(statuses), new Set([200]))
    // If a node read while another one wrote, it would have to read again.
    assert.equal(shop.newCalls().length, events.length)
  })
})
