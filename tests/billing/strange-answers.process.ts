import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { codeOf } from '../support/helpers.ts'
import { ask, openServerShop, SUBSCRIPTION } from './server-shop.ts'

/** What a proxy, or a fault at Stripe, may send instead of an object. */
const BODIES = ['"Bad gateway"', '1', 'true', 'null', '[]', '{}', '', '<html>', '{"id":"cus_', '\0']

describe('the real process', () => {
  it('survives answers that are not from Stripe, and repeats the call', async () => {
    await using shop = await openServerShop({ starter: 9, pro: 29 })
    const key = await shop.addUser('ada@example.com')
    const server = await shop.start()
    const wish = { method: 'POST', path: SUBSCRIPTION, body: { planId: 'pro' } }
    for (const [n, text] of BODIES.entries()) {
      shop.double.failCalls({ kind: 'answer', status: n % 2 === 0 ? 200 : 502, text })
      assert.equal((await ask(server, key, wish)).status, 200, text)
    }
    shop.double.failCalls({ kind: 'answer', status: 200, text: '1' }, 100)
    assert.equal(codeOf(await ask(server, key, wish)), 'BILLING_UNAVAILABLE')
    shop.double.clearFaults()
    assert.equal((await ask(server, key, wish)).status, 200)
    assert.equal((await server.stop('SIGTERM')).code, 0)
  })
})
