import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ask, openStore, SUBSCRIPTION } from '../e2e/store.ts'
import { codeOf } from '../helpers.ts'
import { startLoad } from './load.ts'

/*
 * The server as users run it, with its own time limit, beside a Stripe that is slow. All calls of an
 * action share the limit. The longest pause between look-ups is far below it on any machine.
 */

const CLIENTS = 4
const LONGEST_PAUSE_MS = 4_000
/** More than the limit of nine seconds, with what else a busy machine takes. */
const TOO_LONG_MS = 30_000

const SLOWNESS = [
  { name: 'one call takes ten seconds', delayMs: 10_000 },
  { name: 'each call takes four seconds', delayMs: 4_000 },
] as const

describe('a slow Stripe', () => {
  for (const { name, delayMs } of SLOWNESS) {
    it(`is 503 within the limit where ${name}, and look-ups go on`, async () => {
      await using store = await openStore({ starter: 9, pro: 29 })
      const key = await store.addUser('ada@example.com')
      const server = await store.start()
      const load = startLoad(server.url, key, CLIENTS)
      store.double.failCalls({ kind: 'slow', delayMs }, 20)
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
      // Once Stripe is as it should be, the same wish is met.
      store.double.clearFaults()
      assert.equal((await ask(server, key, wish)).status, 200)
    })
  }
})

function longestPause(times: readonly number[]): number {
  return times.reduce((longest, time, n) => Math.max(longest, time - (times[n - 1] ?? time)), 0)
}
