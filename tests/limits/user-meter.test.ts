import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Uses } from '../../lib/db/uses.ts'
import { NO_COUNTS } from '../../lib/limits/meter-store.ts'
import { UserMeter } from '../../lib/limits/user-meter.ts'

const TERMS = { plan: { monthlyCap: 100 }, paid: null }

function openMeter() {
  const store = {
    readPeriod: () => NO_COUNTS,
    readUserBucket: () => undefined,
    readBuckets: () => new Map(),
    removeBuckets: async () => {},
  }
  const options = { store, write: () => {}, record: () => [] }
  const meter = new UserMeter(options, 'id', { start: 0, end: 1 }, { spent: 0, at: 0 })
  /** Returns the requests that are to be written now. */
  const collect = (): number => {
    const uses: Uses = { buckets: [], users: [], keys: [], operations: [] }
    meter.collect(uses)
    return uses.users.reduce((sum, { requests }) => sum + requests, 0)
  }
  return { meter, collect }
}

describe('UserMeter', () => {
  it('writes requests again if they were not written', () => {
    const { meter, collect } = openMeter()
    meter.count(TERMS, 2)
    assert.equal(collect(), 2)
    meter.count(TERMS, 3)
    meter.notWritten()
    assert.equal(collect(), 5)
  })

  it('writes no request again that was written, even if what follows the write fails', () => {
    const { meter, collect } = openMeter()
    meter.count(TERMS, 2)
    assert.equal(collect(), 2)
    meter.written(undefined)
    meter.notWritten()
    assert.equal(collect(), 0)
    assert.equal(meter.requests, 2)
  })
})
