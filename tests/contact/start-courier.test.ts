import assert from 'node:assert/strict'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { inquiryQueue } from '../../lib/contact/delivery-queue.ts'
import { startCourier } from '../../lib/contact/start-courier.ts'
import { openDb } from '../../lib/db/open.ts'
import { reasonOf } from '../../lib/parts/reason.ts'
import { ONLY_PROCESS } from '../../lib/storage/only-process.ts'
import { tempFolder } from '../support/temp-folder.ts'

const POLL_MS = 5_000
const folder = tempFolder()

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
afterEach(() => mock.timers.reset())

describe('a courier', () => {
  it('reports once that it cannot read its queue, and once that it can again', async () => {
    await using opening = new AsyncDisposableStack()
    const reports: string[] = []
    let isAway = true
    const isDue = async () => {
      if (isAway) throw new Error('away')
      return false
    }
    startCourier(
      {
        db: openDb(join(folder, 'app.db')),
        storage: ONLY_PROCESS,
        now: Date.now,
        log: {
          warn: () => {},
          error: (fields) => reports.push(reasonOf('err' in fields && fields.err)),
        },
      },
      {
        queue: { ...inquiryQueue, isDue },
        deliver: async () => {},
        one: 'an inquiry',
        all: 'inquiries',
        lease: 'inquiries',
        fields: (inquiryId) => ({ inquiryId }),
      },
      opening,
    )
    const poll = async () => {
      mock.timers.tick(POLL_MS)
      for (let turn = 0; turn < 10; turn++) await nextTurn()
    }
    for (let n = 0; n < 3; n++) await poll()
    assert.deepEqual(reports, ['away'])
    isAway = false
    for (let n = 0; n < 3; n++) await poll()
    assert.equal(reports.length, 2)
    assert.match(reports.join(), /it had failed \d times$/)
  })
})
