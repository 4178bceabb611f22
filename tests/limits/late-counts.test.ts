import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { toCapShares } from '../../lib/contract/account/cap-shares.ts'
import { rowsOf } from '../../lib/db/ledger/columns.ts'
import { Ledger } from '../../lib/db/ledger/ledger.ts'
import type { WriteCounts } from '../../lib/db/ledger/pending-counts.ts'
import type { Metered } from '../../lib/limits/meter.ts'
import { Meters } from '../../lib/limits/meters.ts'
import { createPgMeterStore } from '../../lib/limits/pg-meter-store.ts'
import type { PgPool } from '../../lib/postgres/connection.ts'
import { NOON } from '../support/helpers.ts'
import { ModelStore } from './shared/model-store.ts'

const STORED = 95
/** More turns of the event loop than the buckets need for an answer. */
const TURNS = 10
const ADA: Metered = {
  userId: 'ada',
  plan: { requestsPerMinute: 60, maxKeys: 1, monthlyCap: 100 },
  paid: null,
  capShares: toCapShares(null),
  key: { id: 'key' },
}

/** Meters of a node whose reads of counts are answered late. */
function openNode(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const answered = Promise.withResolvers<void>()
  const database = { requests: STORED, reads: 0 }
  const pool: PgPool = {
    use: async (work) => {
      database.reads += 1
      const { requests } = database
      await answered.promise
      const query = async () => ({ rows: [[requests, 0, 0, 0, 0]], changes: 1 })
      return work({ query, runScript: () => assert.fail() })
    },
    listen: () => assert.fail(),
    [Symbol.asyncDispose]: async () => {},
  }
  const writeCounts: WriteCounts = async ({ users }) => ({
    notices: [],
    totals: rowsOf(users).map(({ userId, periodStart, requests }) => {
      database.requests += requests
      return { userId, periodStart, requests: database.requests, overage: 0 }
    }),
  })
  const ledger = new Ledger(writeCounts, () => {})
  const onError = t.mock.fn()
  const buckets = new ModelStore(1)
  buckets.time = NOON
  const store = { ...createPgMeterStore({ pool, now: () => NOON, onError }), shared: buckets }
  const meters = new Meters({ store, ledger, record: () => [] }, NOON)
  // Questions in the background would clear timers of the next test.
  t.after(() => meters.finish())
  const use = async (requests: number) => {
    const meter = meters.open(ADA, NOON)
    assert.equal((await meter.takeOrAsk(NOON, requests)).allowed, true)
    meter.count(requests)
  }
  /** Sends first requests, which wait in vain for a second. */
  const begin = async (requests = 1) => {
    let waiting = requests
    const end = () => {
      waiting -= 1
    }
    for (let at = 0; at < requests; at++) void meters.load(ADA, NOON)?.then(end)
    for (let turn = 0; turn < TURNS; turn++) await nextTurn()
    assert.equal(waiting, requests)
    t.mock.timers.tick(1_000)
    for (let turn = 0; turn < TURNS; turn++) await nextTurn()
    assert.equal(waiting, 0)
  }
  const answer = async () => {
    answered.resolve()
    await nextTurn()
  }
  const count = () => meters.periodRequests(ADA, NOON)
  return { database, answered, answer, ledger, meters, onError, use, begin, count }
}

describe('counts that PostgreSQL returns late', () => {
  it('keep the first requests of a user waiting for a second, and are read once', async (t) => {
    const { meters, database, begin } = openNode(t)
    await begin(2)
    assert.equal(meters.load(ADA, NOON), undefined)
    assert.equal(database.reads, 1)
  })

  it('are added to what was counted meanwhile, so that the cap holds', async (t) => {
    const { meters, database, answer, ledger, use, begin, count } = openNode(t)
    await begin()
    await use(3)
    assert.equal(count(), 3)
    await answer()
    assert.equal(count(), STORED + 3)
    assert.equal(meters.open(ADA, NOON).left(), 2)
    await ledger.flush()
    assert.deepEqual([count(), database.requests], [STORED + 3, STORED + 3])
  })

  it('are not added again to totals that a write has returned', async (t) => {
    const { database, answer, ledger, use, begin, count } = openNode(t)
    await begin()
    await use(3)
    await ledger.flush()
    await use(1)
    assert.equal(count(), STORED + 4)
    await answer()
    assert.equal(count(), STORED + 4)
    await ledger.flush()
    assert.deepEqual([count(), database.requests], [STORED + 4, STORED + 4])
  })

  it('come with the next write if they cannot be read', async (t) => {
    const { answered, ledger, onError, use, begin, count } = openNode(t)
    await begin()
    await use(3)
    answered.reject(new Error('the connection has stalled'))
    await nextTurn()
    assert.equal(onError.mock.callCount(), 1)
    assert.equal(count(), 3)
    await ledger.flush()
    assert.equal(count(), STORED + 3)
  })

  it('are awaited before they are shown or charged', async (t) => {
    const { meters, answer, use, begin, count } = openNode(t)
    await begin()
    await use(3)
    let isRead = false
    const refreshing = meters.refresh(ADA, NOON).then(() => {
      isRead = true
    })
    t.mock.timers.tick(60_000)
    await nextTurn()
    assert.equal(isRead, false)
    await answer()
    await refreshing
    assert.equal(count(), STORED + 3)
  })

  it('are neither shown nor charged if they cannot be read', async (t) => {
    const { meters, answered, use, begin } = openNode(t)
    await begin()
    await use(3)
    const refreshing = meters.refresh(ADA, NOON)
    answered.reject(new Error('the connection has stalled'))
    await assert.rejects(refreshing, /the connection has stalled/)
  })
})
