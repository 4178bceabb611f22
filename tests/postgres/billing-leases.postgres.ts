import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import Stripe from 'stripe'
import { environment, openShop, type Shop, WEBHOOK } from '../billing/shop.ts'
import { type PostgresServer, startPostgres } from '../support/database/postgres-server.ts'
import { openServerDatabase } from '../support/database/test-database.ts'
import { makeApp, type TestApp } from '../support/helpers.ts'

let server: PostgresServer

before(async () => {
  server = await startPostgres({ fsync: 'off' })
})
after(() => server[Symbol.asyncDispose]())

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
