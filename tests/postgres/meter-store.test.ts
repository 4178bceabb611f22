import assert from 'node:assert/strict'
import { it } from 'node:test'
import { NO_COUNTS } from '../../lib/limits/meter-store.ts'
import type { PgPool } from '../../lib/postgres/connection.ts'
import { createPgMeterStore } from '../../lib/postgres/meter-store.ts'

it('a first request waits a second for the counts of its user, and then does without them', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const pool: PgPool = {
    use: () => new Promise(() => {}),
    listen: () => Promise.reject(new Error('not used')),
    [Symbol.asyncDispose]: async () => {},
  }
  const onError = t.mock.fn()
  const store = createPgMeterStore({ pool, now: Date.now, onError })
  const loading = store.load?.('ada', 0)
  t.mock.timers.tick(1_000)
  await loading
  assert.deepEqual(store.readPeriod('ada', 0), NO_COUNTS)
  assert.equal(onError.mock.callCount(), 1)
})
