import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { write } from '../../support/database/sql.ts'
import { codeOf } from '../../support/helpers.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { auditOf, openShop, type Shop, SUBSCRIPTION } from '../shop.ts'

const REFRESHED = `${SUBSCRIPTION}?refresh=true`

/** Opens a checkout and pays it. All events are lost. */
async function buyUnnoticed(shop: Shop): Promise<void> {
  shop.double.switchDeliveries('drop', 100)
  await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
  const [session] = [...shop.double.world.state.tables.sessions.values()].slice(-1)
  shop.double.payCheckout(session?.id ?? '', { card: 'pm_card_visa' })
  await shop.settled()
  shop.newCalls()
}

describe('GET /v1/billing/subscription?refresh=true', () => {
  const shop = freshly(openShop)

  it('shows what was paid, although its events were lost', async () => {
    await buyUnnoticed(shop)
    assert.match((await shop.send('GET', SUBSCRIPTION)).text, /"plan":\{"id":"free"/)
    assert.deepEqual(shop.newCalls(), [])
    const { text } = await shop.send('GET', REFRESHED)
    assert.match(text, /^\{"plan":\{"id":"pro".*"subscription":\{"id":"sub_/)
    assert.deepEqual(
      (await auditOf(shop)).map(({ app, action }) => [app, action]),
      [
        ['api', 'create_checkout'],
        ['stripe', 'subscription_updated'],
      ],
    )
    await shop.stripe.subscriptions.cancel((await shop.row())?.id ?? '')
    shop.pass(3)
    const ended = await shop.send('GET', REFRESHED)
    assert.match(ended.text, /^\{"plan":\{"id":"free".*"subscription":null\}$/)
  })

  it('finds the subscription that counts behind many others', async () => {
    const { id, plan } = await shop.buy('starter')
    const paid = shop.atStripe(id)
    const { subscriptions } = shop.double.world.state.tables
    for (let n = 0; n < 120; n += 1) {
      subscriptions.set(`sub_${n}`, { ...paid, id: `sub_${n}`, status: 'incomplete' })
    }
    await write(shop.app, 'DELETE FROM subscriptions')
    shop.newCalls()
    await shop.send('GET', REFRESHED)
    assert.equal((await shop.row())?.id, id)
    assert.equal((await shop.row())?.plan, plan)
    // Ten with the customer, then pages of a hundred.
    assert.equal(shop.newCalls().length, 3)
  })

  it('asks Stripe once in three seconds for each user', async () => {
    await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
    await shop.settled()
    shop.newCalls()
    for (let n = 0; n < 3; n += 1) await shop.send('GET', REFRESHED)
    assert.equal(shop.newCalls().length, 1)
    shop.pass(2)
    await shop.send('GET', REFRESHED)
    assert.equal(shop.newCalls().length, 0)
    shop.pass(1)
    await shop.send('GET', REFRESHED)
    assert.equal(shop.newCalls().length, 1)
  })

  it('does not ask Stripe about a user who never began a checkout', async () => {
    assert.equal((await shop.send('GET', REFRESHED)).status, 200)
    assert.deepEqual(shop.newCalls(), [])
  })

  it('answers 503 if Stripe does not, and 400 to another value', async () => {
    await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
    await shop.settled()
    shop.double.failCalls({ kind: '500' })
    assert.equal(codeOf(await shop.send('GET', REFRESHED)), 'BILLING_UNAVAILABLE')
    assert.equal((await shop.send('GET', SUBSCRIPTION)).status, 200)
    const wrong = await shop.send('GET', `${SUBSCRIPTION}?refresh=yes`)
    assert.equal(codeOf(wrong), 'BAD_REQUEST')
  })
})
