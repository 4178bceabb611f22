import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toCapShares } from '../../lib/contract/account/cap-shares.ts'
import { rowsOf } from '../../lib/db/ledger/columns.ts'
import { Ledger } from '../../lib/db/ledger/ledger.ts'
import type { Metered } from '../../lib/limits/meter.ts'
import { NO_COUNTS } from '../../lib/limits/meter-store.ts'
import { Meters } from '../../lib/limits/meters.ts'
import { SECOND_MS } from '../../lib/parts/durations.ts'
import { NOON } from '../support/helpers.ts'

/** Plans by the time that a request takes to refill. */
const SECOND_EACH = { requestsPerMinute: 60, maxKeys: 1, monthlyCap: 1_000_000 }
const MINUTE_EACH = { ...SECOND_EACH, requestsPerMinute: 1 }

function callerOf(id: string, plan: Metered['plan']): Metered {
  return { userId: `user of ${id}`, plan, paid: null, capShares: toCapShares(null), key: { id } }
}

function openMeters() {
  const written: string[] = []
  const ledger = new Ledger(
    async ({ buckets, users }) => {
      written.push(...rowsOf(buckets).map(({ id, spent }) => `${id}: ${spent}`))
      assert.equal(users.userId.length, 1, 'the requests are written in any case')
      return { notices: [] }
    },
    () => {},
  )
  const store = {
    readPeriod: () => NO_COUNTS,
    readUserBucket: () => undefined,
    readBuckets: () => new Map(),
    removeBuckets: async () => {},
  }
  return { written, ledger, meters: new Meters({ store, ledger, record: () => [] }, NOON) }
}

/** What a flush writes of the bucket after one request at noon, while requests of others arrive `later`. */
async function writtenAfter(plan: Metered['plan'], later: number): Promise<string[]> {
  const { meters, ledger, written } = openMeters()
  meters.open(callerOf('used', plan), NOON).take(NOON)
  meters.open(callerOf('other', plan), NOON + later)
  await ledger.flush()
  return written
}

describe('the bucket of a caller', () => {
  it('is written while it is not full', async () => {
    assert.deepEqual(await writtenAfter(SECOND_EACH, 0), ['used: 1'])
    assert.deepEqual(await writtenAfter(SECOND_EACH, SECOND_MS - 1), ['used: 1'])
    assert.deepEqual(await writtenAfter(MINUTE_EACH, SECOND_MS), ['used: 1'])
  })

  it('is not written once it is full again', async () => {
    assert.deepEqual(await writtenAfter(SECOND_EACH, SECOND_MS), [])
  })

  it('is full by the plan with which requests were last taken', async () => {
    const { meters, ledger, written } = openMeters()
    meters.open(callerOf('used', SECOND_EACH), NOON).take(NOON)
    meters.open(callerOf('used', MINUTE_EACH), NOON).take(NOON)
    meters.open(callerOf('other', SECOND_EACH), NOON + SECOND_MS)
    await ledger.flush()
    assert.deepEqual(written, ['used: 1'])
  })
})
