import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toCapShares } from '../../lib/contract/account/cap-shares.ts'
import { Ledger } from '../../lib/db/ledger/ledger.ts'
import type { CapNotice } from '../../lib/db/ledger/notices.ts'
import type { WriteCounts } from '../../lib/db/ledger/pending-counts.ts'
import { NO_COUNTS } from '../../lib/limits/meter-store.ts'
import { USER_PERIODS, UserPeriod } from '../../lib/limits/user-period.ts'

const TERMS = { plan: { monthlyCap: 100 }, paid: null, capShares: toCapShares(null) }
const NEAR_CAP = { percent: 80, isReported: true, isMailed: true }
const NOTICE: CapNotice = { userId: 'id', threshold: 'near_cap', cap: 100, ...NEAR_CAP }

function openPeriod() {
  const store = {
    readPeriod: () => NO_COUNTS,
    readUserBucket: () => undefined,
    readBuckets: () => new Map(),
    removeBuckets: async () => {},
  }
  const disk = { isFull: false, isAnnounced: true, written: 0 }
  const write: WriteCounts = async ({ users }) => {
    if (disk.isFull) throw new Error('full')
    for (const requests of users.requests) disk.written += requests
    return { notices: [NOTICE] }
  }
  const ledger = new Ledger(write, () => {
    if (!disk.isAnnounced) throw new Error('cannot announce')
  })
  const period = new UserPeriod(
    { userId: 'id', period: { start: 0, end: 1 }, bucket: { spent: 0, at: 0 } },
    { store, record: () => [] },
    ledger.open(USER_PERIODS),
  )
  return { period, ledger, disk }
}

describe('UserPeriod', () => {
  it('writes requests again if they were not written', async () => {
    const { period, ledger, disk } = openPeriod()
    disk.isFull = true
    period.count(TERMS, 2)
    const flushed = ledger.flush()
    period.count(TERMS, 3)
    await assert.rejects(flushed, { message: 'full' })
    disk.isFull = false
    await ledger.flush()
    assert.equal(disk.written, 5)
  })

  it('writes no request again that was written, even if what follows the write fails', async () => {
    const { period, ledger, disk } = openPeriod()
    disk.isAnnounced = false
    period.count(TERMS, 2)
    await assert.rejects(ledger.flush(), { message: 'cannot announce' })
    assert.equal(ledger.size, 0)
    await ledger.flush()
    assert.deepEqual([disk.written, period.requests], [2, 2])
  })
})
