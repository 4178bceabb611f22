import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nextDownload } from '../../../lib/services/geo/downloads.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NOW = Date.UTC(2026, 10, 21)

const times = { startedAt: NOW, succeededAt: 0, failedAt: 0, failures: 0 }
/** Minutes from the start of the process to the next download. */
const minutes = (changed: Partial<typeof times>, spread = 0) =>
  (nextDownload({ ...times, ...changed }, spread) - NOW) / MINUTE

describe('the next download', () => {
  it('is a few minutes after the first start', () => {
    assert.equal(minutes({}), 5)
    assert.equal(minutes({}, 1), 35)
  })

  it('is a day after the last download, however often the server is restarted', () => {
    assert.equal(minutes({ succeededAt: NOW - HOUR }), 23 * 60)
    assert.equal(minutes({ succeededAt: NOW - 23 * HOUR - 58 * MINUTE }), 5)
    assert.equal(minutes({ succeededAt: NOW - 1_000 * HOUR }, 0.5), 20)
  })

  it('waits twice as long after each failure, up to a day', () => {
    const failedAt = NOW + HOUR
    const waits = [1, 2, 3, 4, 7, 8, 9, 1_000].map(
      (failures) => minutes({ failedAt, failures }) - 60,
    )
    assert.deepEqual(waits, [15, 30, 60, 120, 960, 1_440, 1_440, 1_440])
  })
})
