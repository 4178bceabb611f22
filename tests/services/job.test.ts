import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createJob } from '../../lib/services/operate/job.ts'

describe('a job', () => {
  it('runs once at a time, and shows when it started and how it ended', async () => {
    let time = 1
    const ends: PromiseWithResolvers<string>[] = []
    const job = createJob(
      () => {
        const end = Promise.withResolvers<string>()
        ends.push(end)
        return end.promise
      },
      () => time,
    )
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
    const job = createJob(
      async (n: number) => n * 2,
      () => 0,
    )
    job.start(21)
    await job.settled()
    assert.deepEqual(job.state().last, { endedAt: 0, result: 42 })
  })
})
