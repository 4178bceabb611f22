import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startLoad } from '../http/load.ts'
import { codeOf } from '../support/helpers.ts'
import { ask, openServerShop, SUBSCRIPTION } from './server-shop.ts'

// run: alone

/*
 * The server as users run it, with its own time limit, and a slow Stripe. All calls of an action share
 * the limit. On any machine, the longest pause between look-ups is far below it.
 */

const CLIENTS = 4
const LONGEST_PAUSE_MS = 8_000
/** The limit of nine seconds, and room for a busy machine. */
const TOO_LONG_MS = 30_000

const SLOWNESS = [
  { name: 'one call takes ten seconds', delayMs: 10_000 },
  { name: 'each call takes four seconds', delayMs: 4_000 },
] as const

// At once: they mostly wait.
describe('a slow Stripe', { concurrency: true }, () => {
  for (const { name, delayMs } of SLOWNESS) {
    it(`leads to 503 within the time limit when ${name}, and does not delay look-ups`, async () => {
      await using shop = await openServerShop({ starter: 9, pro: 29 })
      const key = await shop.addUser('ada@example.com')
      const server = await shop.start()
      const load = startLoad(server.url, key, CLIENTS)
      shop.double.failCalls({ kind: 'slow', delayMs }, 20)
      const began = performance.now()
      const wish = { method: 'POST', path: SUBSCRIPTION, body: { planId: 'pro' } }
      const answer = await ask(server, key, wish)
      const ended = performance.now()
      load.stop()
      await load.ended
      assert.equal(codeOf(answer), 'BILLING_UNAVAILABLE')
      assert.equal(answer.status, 503)
      assert.ok(ended - began < TOO_LONG_MS, `${ended - began} ms`)
      assert.deepEqual(load.others, [])
      const during = load.answeredAt.filter((at) => at >= began && at <= ended)
      assert.ok(during.length > 100, `${during.length} look-ups`)
      assert.ok(longestPause([began, ...during, ended]) < LONGEST_PAUSE_MS)
      // Once Stripe is fast again, the same request succeeds.
      shop.double.clearFaults()
      assert.equal((await ask(server, key, wish)).status, 200)
    })
  }
})

function longestPause(times: readonly number[]): number {
  return times.reduce((longest, time, n) => Math.max(longest, time - (times[n - 1] ?? time)), 0)
}
