import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toCapShares } from '../../lib/contract/account/cap-shares.ts'
import { rowsOf } from '../../lib/db/ledger/columns.ts'
import { Ledger } from '../../lib/db/ledger/ledger.ts'
import type { WriteCounts } from '../../lib/db/ledger/pending-counts.ts'
import type { Metered } from '../../lib/limits/meter.ts'
import { NO_COUNTS } from '../../lib/limits/meter-store.ts'
import { Meters } from '../../lib/limits/meters.ts'
import { DAY_MS, MINUTE_MS } from '../../lib/parts/durations.ts'
import { createRequestCounts } from '../../lib/usage/request-counts.ts'
import { NOON } from '../support/helpers.ts'

/** Many slices, on any machine. */
const CALLERS = 50_000
const PLAN = { requestsPerMinute: 60, maxKeys: 1, monthlyCap: 1_000_000 }
const LATER = NOON + 2 * MINUTE_MS
const NEXT_MONTH = NOON + 31 * DAY_MS

const userOf = (n: number): Metered => ({
  userId: `user ${n}`,
  plan: PLAN,
  paid: null,
  capShares: toCapShares(null),
  key: { id: `key ${n}` },
})

function openMeters() {
  const stored = new Map<string, number>()
  const bucketsRead: string[] = []
  const store = {
    readPeriod: (userId: string) => ({ ...NO_COUNTS, requests: stored.get(userId) ?? 0 }),
    readUserBucket: (userId: string) => {
      bucketsRead.push(userId)
      return undefined
    },
    readBuckets: () => new Map(),
    removeBuckets: async () => {},
  }
  const write: WriteCounts = async ({ users }) => {
    for (const { userId, requests } of rowsOf(users)) {
      stored.set(userId, (stored.get(userId) ?? 0) + requests)
    }
    return { notices: [] }
  }
  const ledger = new Ledger(write, () => {})
  const meters = new Meters({ store, ledger, record: () => [] }, NOON)
  const use = (n: number, now: number) => {
    const meter = meters.open(userOf(n), now)
    const state = meter.take(now)
    meter.count()
    return state
  }
  return { meters, flush: () => ledger.flush(), use, stored, bucketsRead }
}

/** Calls `act` in each turn of the event loop until `work` ends. Returns the number of turns. */
async function countTurns(work: Promise<void>, act: () => void = () => {}): Promise<number> {
  let turns = 0
  let isOver = false
  const turn = () => {
    if (isOver) return
    turns += 1
    act()
    setImmediate(turn)
  }
  setImmediate(turn)
  await work
  isOver = true
  return turns
}

describe('removing idle callers', () => {
  it('lets other requests run in between', async () => {
    const { meters, flush, use } = openMeters()
    for (let n = 0; n < CALLERS; n++) use(n, NOON)
    await flush()
    assert.ok((await countTurns(meters.removeIdle(NOON))) > 1)
    assert.ok((await countTurns(meters.removeIdle(LATER))) > 1)
  })

  it('counts and limits exactly those who come back meanwhile', async () => {
    const { meters, flush, use, stored } = openMeters()
    for (let n = 0; n < CALLERS; n++) use(n, NOON)
    await flush()
    const returned = new Map<number, number>()
    let at = 0
    const comeBack = () => {
      at += 1
      if (at >= CALLERS) return
      // From both ends: some are forgotten already, others are not.
      const n = at % 2 === 0 ? at : CALLERS - at
      use(n, LATER)
      returned.set(n, (returned.get(n) ?? 0) + 1)
      if (at % 100 === 0) void flush()
    }
    await countTurns(meters.removeIdle(LATER), () => Array.from({ length: 50 }, comeBack))
    assert.ok(returned.size > 0)
    await meters.removeIdle(LATER)
    for (const [n, times] of returned) {
      const { remaining } = use(n, LATER)
      assert.equal(remaining, PLAN.requestsPerMinute - times - 1, `${n}`)
      assert.equal(meters.periodRequests(userOf(n), LATER), 1 + times + 1, `${n}`)
    }
    await flush()
    for (const [n, times] of returned) assert.equal(stored.get(`user ${n}`), 1 + times + 1, `${n}`)
  })

  it('remembers neither their counts nor their buckets', async () => {
    const { meters, flush, use, stored, bucketsRead } = openMeters()
    use(1, NOON - 2 * MINUTE_MS)
    await flush()
    await meters.removeIdle(NOON)
    stored.set('user 1', 7)
    assert.equal(meters.periodRequests(userOf(1), NOON), 7)
    assert.deepEqual(bucketsRead, ['user 1', 'user 1'])
  })

  it('remembers no counts of a period that is over', async () => {
    const { meters, flush, use, stored } = openMeters()
    use(1, NOON)
    use(1, NEXT_MONTH)
    await flush()
    await meters.removeIdle(NEXT_MONTH)
    stored.set('user 1', 7)
    assert.equal(meters.periodRequests(userOf(1), NOON), 7)
    assert.equal(meters.periodRequests(userOf(1), NEXT_MONTH), 1)
  })
})

describe('removing written counts of requests', () => {
  it('lets other requests run in between', async () => {
    const counts = createRequestCounts(new Ledger(assert.fail, () => assert.fail()))
    const answer = { operation: 'locateAddress', status: 200, requests: 1, lookUps: 1 }
    for (let n = 0; n < CALLERS; n++) counts.findCounter(`user ${n}`, null).count(answer, NOON)
    assert.ok((await countTurns(counts.removeWritten())) > 1)
  })
})
