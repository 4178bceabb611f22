import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openShopOverCap, unitsOf } from '../../billing/overages/overages.ts'
import { openShop, type Shop, SUBSCRIPTION } from '../../billing/shop.ts'
import { readValue, write } from '../../support/database/sql.ts'
import { codeOf, makeApp } from '../../support/helpers.ts'

const askToDelete = (shop: Shop) =>
  shop.send('POST', '/v1/account/me/delete', { email: 'ada@example.com' })

const users = ({ app }: Shop) => readValue(app, 'SELECT count(*) FROM users')

describe('deleting an account that pays', () => {
  it('ends the subscription at Stripe first, and ignores its events afterwards', async () => {
    await using shop = await openShop()
    const { id } = await shop.buy('pro')
    const answer = await askToDelete(shop)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(shop.atStripe(id).status, 'canceled')
    await shop.settled()
    assert.equal(await users(shop), 0)
    assert.equal(await shop.row(), null)
  })

  it('reports overages first, so that the last invoice has them', async () => {
    await using shop = await openShopOverCap()
    await shop.ask(3)
    const body = { email: 'ada@example.com' }
    const sent = { key: shop.key, body }
    assert.equal((await shop.app.send('POST', '/v1/account/me/delete', sent)).status, 200)
    assert.deepEqual(unitsOf(shop), [3])
  })

  it('closes payment pages, so that nobody pays for an account that is gone', async () => {
    await using shop = await openShop()
    await shop.send('POST', SUBSCRIPTION, { planId: 'pro' })
    assert.equal((await askToDelete(shop)).status, 200)
    const pages = [...shop.double.world.state.tables.sessions.values()]
    const statuses = pages.map(({ status }) => status)
    assert.deepEqual(statuses, ['expired'])
  })

  it('deletes nothing while Stripe does not answer', async () => {
    await using shop = await openShop()
    await shop.buy('pro')
    shop.double.failCalls({ kind: '500' }, 100)
    const answer = await askToDelete(shop)
    assert.deepEqual([answer.status, codeOf(answer)], [503, 'BILLING_UNAVAILABLE'])
    assert.equal(await users(shop), 1)
    assert.equal((await shop.send('GET', '/v1/account/me')).status, 200)
  })

  it('says so if there is a customer at Stripe, but Stripe is not configured', async () => {
    await using app = await makeApp()
    const key = await app.makeKey()
    const insert = 'INSERT INTO billing_customers (user_id, customer_id, created_at)'
    await write(app, `${insert} SELECT id, 'cus_1', 1 FROM users`)
    const body = { email: 'ada@example.com' }
    const answer = await app.send('POST', '/v1/account/me/delete', { key, body })
    assert.deepEqual([answer.status, codeOf(answer)], [503, 'BILLING_NOT_CONFIGURED'])
    assert.match(answer.text, /customer at Stripe/)
    assert.equal((await app.send('GET', '/v1/account/me', { key })).status, 200)
  })
})
