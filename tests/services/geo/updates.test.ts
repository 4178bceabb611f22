import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { readConfig } from '../../../lib/config/config.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/parts/durations.ts'
import { nextDownload } from '../../../lib/services/geo/downloads.ts'
import { isUpdateDue, openGeofeeds } from '../../../lib/services/geo/geofeeds.ts'
import { NOON, recordingLog } from '../../support/helpers.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()
let count = 0

describe('an update of the geofeeds', () => {
  const last = { signature: 'a', at: NOON, hasFailed: false }

  it('is due after a day, or an hour after a failure', () => {
    assert.equal(isUpdateDue(last, 'a', NOON + DAY_MS - 1), false)
    assert.equal(isUpdateDue(last, 'a', NOON + DAY_MS), true)
    const failed = { ...last, hasFailed: true }
    assert.equal(isUpdateDue(failed, 'a', NOON + HOUR_MS - 1), false)
    assert.equal(isUpdateDue(failed, 'a', NOON + HOUR_MS), true)
  })

  it('is due at once if settings or files have changed, or the last is in the future', () => {
    assert.equal(isUpdateDue(last, 'b', NOON + 1), true)
    assert.equal(isUpdateDue(last, 'a', NOON - 1), true)
  })
})

/** A server with a geofeed in a file, and how often it has updated it. */
function open(t: TestContext, update: () => Promise<void> = async () => {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const dataDir = join(folder, String(count++))
  mkdirSync(join(dataDir, 'geo'), { recursive: true })
  const own = join(dataDir, 'own.csv')
  writeFileSync(own, '10.0.0.0/8,DE')
  const config = readConfig({ MERIDIAN_DATA_DIR: dataDir, MERIDIAN_GEOFEEDS: `${own}=10.0.0.0/8` })
  const log = recordingLog()
  const opening = new AsyncDisposableStack()
  let updates = 0
  const counted = () => {
    updates++
    return update()
  }
  openGeofeeds({ config, log, now: () => NOON }, counted, opening)
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms)
    await nextTurn()
    return updates
  }
  return { own, log, opening, pass }
}

describe('a server with geofeeds', () => {
  it('updates them soon after its start, and again when a file has changed', async (t) => {
    const { own, opening, pass } = open(t)
    await using _opening = opening
    assert.equal(await pass(5_000), 1)
    assert.equal(await pass(MINUTE_MS), 1)
    writeFileSync(own, '10.0.0.0/8,FR\n10.0.0.0/9,FR')
    assert.equal(await pass(MINUTE_MS), 2)
    assert.equal(await pass(MINUTE_MS), 2)
  })

  it('logs a failure and goes on', async (t) => {
    const { own, log, opening, pass } = open(t, () => Promise.reject(new Error('no room')))
    await using _opening = opening
    assert.equal(await pass(5_000), 1)
    assert.match(JSON.stringify(log.events), /cannot update all geofeeds; their earlier versions/)
    writeFileSync(own, '10.0.0.0/8,FRA')
    assert.equal(await pass(MINUTE_MS), 2)
  })

  it('stops when it is closed', async (t) => {
    const { opening, pass } = open(t)
    await opening.disposeAsync()
    assert.equal(await pass(MINUTE_MS), 0)
  })
})

const NOW = Date.UTC(2026, 10, 21)

const times = { startedAt: NOW, succeededAt: 0, failedAt: 0, failures: 0 }
/** Minutes from the start of the process to the next download. */
const minutes = (changed: Partial<typeof times>, spread = 0) =>
  (nextDownload({ ...times, ...changed }, spread) - NOW) / MINUTE_MS

describe('the next download', () => {
  it('is a few minutes after the first start', () => {
    assert.equal(minutes({}), 5)
    assert.equal(minutes({}, 1), 35)
  })

  it('is a day after the last download, however often the server is restarted', () => {
    assert.equal(minutes({ succeededAt: NOW - HOUR_MS }), 23 * 60)
    assert.equal(minutes({ succeededAt: NOW - 23 * HOUR_MS - 58 * MINUTE_MS }), 5)
    assert.equal(minutes({ succeededAt: NOW - 1_000 * HOUR_MS }, 0.5), 20)
  })

  it('waits twice as long after each failure, up to a day', () => {
    const failedAt = NOW + HOUR_MS
    const wait = (failures: number) => minutes({ failedAt, failures }) - 60
    const waits = [1, 2, 3, 4, 7, 8, 9, 1_000].map(wait)
    assert.deepEqual(waits, [15, 30, 60, 120, 960, 1_440, 1_440, 1_440])
  })
})
