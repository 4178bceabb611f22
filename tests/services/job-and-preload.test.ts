import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { once } from '../../lib/parts/once.ts'
import { createJob } from '../../lib/services/operate/job.ts'
import { preload } from '../../lib/services/preload.ts'
import { recordingLog } from '../support/helpers.ts'

describe('a job', () => {
  it('runs once at a time, and shows when it started and how it ended', async () => {
    let time = 1
    const ends: PromiseWithResolvers<string>[] = []
    const work = () => {
      const end = Promise.withResolvers<string>()
      ends.push(end)
      return end.promise
    }
    const job = createJob(work, () => time)
    assert.deepEqual(job.state(), { startedAt: null, last: null })
    assert.equal(job.start(), 'started')
    assert.equal(job.start(), 'running')
    assert.deepEqual(job.state(), { startedAt: 1, last: null })
    time = 2
    ends[0]?.resolve('done')
    await job.settled()
    assert.deepEqual(job.state(), { startedAt: null, last: { endedAt: 2, result: 'done' } })
    job.start()
    ends[1]?.reject(new Error('no room'))
    await job.settled()
    assert.equal(ends.length, 2)
    assert.deepEqual(job.state(), { startedAt: null, last: { endedAt: 2, reason: 'no room' } })
  })

  it('gives each run its input', async () => {
    const double = async (n: number) => n * 2
    const job = createJob(double, () => 0)
    job.start(21)
    await job.settled()
    assert.deepEqual(job.state().last, { endedAt: 0, result: 42 })
  })
})

it('what cannot be loaded ahead is logged, and loaded on its first use', async () => {
  const log = recordingLog()
  const loaded: string[] = []
  let tries = 0
  const first = once(async () => {
    tries += 1
    if (tries === 1) throw new Error('EMFILE')
    loaded.push('first')
  })
  const second = once(async () => loaded.push('second'))
  await preload([first, second], log)
  assert.deepEqual(loaded, ['second'])
  assert.equal(log.events.length, 1)
  await first()
  await second()
  assert.deepEqual(loaded, ['second', 'first'])
})
