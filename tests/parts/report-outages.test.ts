import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isRecovery, reportOutages, withRecoveries } from '../../lib/parts/report-outages.ts'
import { fromPlain, toPlain } from '../../lib/storage/channel.ts'
import { recordingLog } from '../support/helpers.ts'

const SECOND_MS = 1_000

/** Work that fails or succeeds each second, and what is reported of it. */
function makeWork() {
  const reports: string[] = []
  let now = 0
  const attempts = reportOutages(
    (error) => reports.push(`${now / SECOND_MS} s: ${error instanceof Error && error.message}`),
    () => now,
  )
  const run = (times: number, isGood: boolean) => {
    for (let n = 0; n < times; n++) {
      now += SECOND_MS
      if (isGood) attempts.succeeded()
      else attempts.failed(new Error('away'))
    }
  }
  return { reports, run }
}

describe('a lasting failure', () => {
  it('is reported when it begins, once a minute, and when it is over', () => {
    const { reports, run } = makeWork()
    run(5, true)
    run(130, false)
    run(5, true)
    const last = '136 s: it had failed 130 times'
    assert.deepEqual(reports, ['6 s: away', '66 s: away', '126 s: away', last])
  })

  it('is reported once a minute if it comes and goes', () => {
    const { reports, run } = makeWork()
    for (let n = 0; n < 50; n++) {
      run(1, false)
      run(1, true)
    }
    const once = 'it had failed once'
    assert.deepEqual(reports, ['1 s: away', `2 s: ${once}`, '61 s: away', `62 s: ${once}`])
  })
})

describe('the log', () => {
  it('writes the end of a failure as information, also if a thread reports it', () => {
    const { events, ...rest } = recordingLog()
    const log = withRecoveries({ ...rest, flush: () => {} })
    const errors: unknown[] = []
    const attempts = reportOutages((error) => errors.push(error))
    attempts.failed(new Error('away'))
    attempts.succeeded()
    for (const error of errors) {
      log.error({ err: error, waiting: 7 }, 'cannot write counters')
      log.warn({ err: fromPlain(structuredClone(toPlain(error))) }, 'cannot read prices')
    }
    assert.deepEqual(errors.map(isRecovery), [false, true])
    const logged = events.map(({ level, message }) => `${level} ${message}`)
    assert.deepEqual(logged, [
      ...['error cannot write counters', 'warn cannot read prices'],
      ...['info over: cannot write counters', 'info over: cannot read prices'],
    ])
    assert.deepEqual(events[2]?.fields, { waiting: 7, reason: 'it had failed once' })
  })
})
