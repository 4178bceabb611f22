import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { MINUTE_MS } from '../../../lib/parts/durations.ts'
import { createGeoJobs } from '../../../lib/parts/process/geo-jobs.ts'
import { recordingLog } from '../../support/helpers.ts'

const MB = 1024 * 1024

it('the databases are combined once there is memory for it, and its lack is logged once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const log = recordingLog()
  let available = 256 * MB
  let isDone = false
  const ended = AbortSignal.abort()
  const jobs = createGeoJobs(log, ended, () => available)
  const combined = jobs.compileAtlas().then(() => {
    isDone = true
  })
  for (let minute = 0; minute < 3; minute++) {
    t.mock.timers.tick(MINUTE_MS)
    await nextTurn()
  }
  assert.equal(isDone, false)
  const message = 'waiting for memory to combine the databases into one index; look-ups are slower'
  const fields = { availableMb: 256, neededMb: 300 }
  assert.deepEqual(log.events, [{ level: 'info', fields, message }])
  available = 300 * MB
  t.mock.timers.tick(MINUTE_MS)
  await combined
})
