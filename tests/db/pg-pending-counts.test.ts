import assert from 'node:assert/strict'
import { beforeEach, describe, it, mock } from 'node:test'
import { mintKey } from '../../lib/access/api-key.ts'
import { insertKey, newKey } from '../../lib/access/keys.ts'
import { insertUser, newUser } from '../../lib/accounts/users.ts'
import type { CapNotice } from '../../lib/db/ledger/notices.ts'
import type { PendingCounts } from '../../lib/db/ledger/pending-counts.ts'
import { createPgCounts } from '../../lib/db/ledger/pg-pending-counts.ts'
import type { Db } from '../../lib/db/open.ts'
import { createQueries } from '../../lib/db/queries.ts'
import { DAY_MS, HOUR_MS } from '../../lib/parts/durations.ts'
import type { PgConnection, PgPool } from '../../lib/postgres/connection.ts'
import { joinNodes } from '../../lib/postgres/nodes/nodes.ts'
import { createPgEngine } from '../../lib/storage/pg-engine.ts'
import { sumPastDays } from '../../lib/usage/past-days.ts'
import { pendingCounts, UNPAID } from '../support/database/pending-counts.ts'
import { openMigratedPglite } from '../support/database/pglite.ts'
import { shared } from '../support/scene/freshly.ts'

const NOW = Date.UTC(2026, 0, 15, 12)
const NEVER = new AbortController().signal

const onError = mock.fn()

const pool = shared(openMigratedPglite)
let userId: string
beforeEach(async () => {
  await run(
    'TRUNCATE users, nodes, usage_by_month, usage_by_period, usage_by_operation, summed_usage CASCADE',
  )
  const user = newUser({ email: 'ada@example.com', plan: 'free', now: NOW })
  await insertUser(createQueries(createPgEngine(pool).execute), user).run()
  userId = user.id
})

const run = (sql: string) => pool.use((connection) => connection.query(sql))
const read = async (sql: string) => (await run(sql)).rows

async function openNode(through: PgPool = pool, signal = NEVER) {
  const { id } = await joinNodes(pool, 'test', -1)
  const write = createPgCounts({ pool: through, node: id, onError })
  return (counts: PendingCounts) => write(counts, signal)
}

interface Details {
  readonly notices?: readonly CapNotice[]
  readonly day?: number
  readonly keyId?: string
  readonly usedAt?: number
}

function countsOf(
  requests: number,
  { notices = [], day = 1, keyId = '', usedAt = 0 }: Details = {},
): PendingCounts {
  const bucket = { spent: requests, at: NOW }
  const due = notices.map((notice) => ({ ...notice, records: [] }))
  return pendingCounts({
    users: [{ userId, periodStart: 0, requests, ...UNPAID, ...bucket, notices: due }],
    operations: [
      {
        userId,
        keyId,
        day,
        operation: 'locate',
        status: 200,
        requests,
        lookUps: requests,
        usedAt,
      },
    ],
  })
}

/** What each table has counted. */
async function counts(): Promise<unknown[]> {
  const tables = ['usage_of_months', 'usage_by_period', 'usage_by_operation']
  return Promise.all(
    tables.map(async (table) => {
      const [row] = await read(`SELECT coalesce(sum(requests), 0) FROM ${table}`)
      return row?.[0]
    }),
  )
}

/** A pool whose commits fail once, before or after the database has carried them out. */
function failingOnce(when: 'before' | 'after'): PgPool {
  let isDue = true
  const fail = (connection: PgConnection): PgConnection => ({
    ...connection,
    query: async (text, params) => {
      if (text !== 'COMMIT' || !isDue) return connection.query(text, params)
      isDue = false
      await connection.query(when === 'after' ? 'COMMIT' : 'ROLLBACK')
      throw new Error('the connection was lost')
    },
  })
  return { ...pool, use: (work) => pool.use((connection) => work(fail(connection))) }
}

/** A pool that is used once. From then on, `next` is used. */
function usedOnce({ use }: PgPool, next: PgPool['use']): PgPool {
  let isUsed = false
  return {
    ...pool,
    use: (work) => {
      if (isUsed) return next(work)
      isUsed = true
      return use(work)
    },
  }
}

describe('counts on PostgreSQL', () => {
  it('are added up over several nodes, and the total is returned', async () => {
    const [one, other] = await Promise.all([openNode(), openNode()])
    await one(countsOf(3))
    const { totals } = await other(countsOf(4))
    assert.deepEqual(totals, [{ userId, periodStart: 0, requests: 7, overage: 0 }])
    assert.deepEqual(await counts(), [7, 7, 7])
  })

  it('are counted once if the answer to the commit is lost', async () => {
    const write = await openNode(failingOnce('after'))
    await write(countsOf(3))
    await write(countsOf(2))
    assert.deepEqual(await counts(), [5, 5, 5])
  })

  it('are not written again if the server stops before it is known whether they were', async () => {
    const ending = new AbortController()
    const stop = async () => {
      ending.abort()
      throw new Error('PostgreSQL is away')
    }
    const write = await openNode(usedOnce(failingOnce('after'), stop), ending.signal)
    await write(countsOf(3))
    assert.deepEqual(await counts(), [3, 3, 3])
    assert.equal(onError.mock.callCount(), 1)
  })

  it('are not written again if the database has forgotten this node', async () => {
    const forget: PgPool['use'] = async (work) => {
      await run('DELETE FROM nodes')
      return pool.use(work)
    }
    const write = await openNode(usedOnce(failingOnce('after'), forget))
    await write(countsOf(3))
    assert.deepEqual(await counts(), [3, 3, 3])
  })

  it('are reported as not written if the commit did not happen', async () => {
    const write = await openNode(failingOnce('before'))
    await assert.rejects(write(countsOf(3)), /the connection was lost/)
    assert.deepEqual(await counts(), [0, 0, 0])
    await write(countsOf(3))
    assert.deepEqual(await counts(), [3, 3, 3])
  })

  it('are reported as not written, at once, if the database is away', async () => {
    let isAway = true
    const fail = () => Promise.reject(new Error('the connection was lost'))
    const write = await openNode({ ...pool, use: (work) => (isAway ? fail() : pool.use(work)) })
    await assert.rejects(write(countsOf(3)), /the connection was lost/)
    isAway = false
    await write(countsOf(3))
    assert.deepEqual(await counts(), [3, 3, 3])
  })

  it('are added to their month once each, before or after it is summed up', async () => {
    const engine = createPgEngine(pool)
    const db: Db = Object.assign(createQueries(engine.execute), { engine })
    const months = () => read('SELECT month, requests FROM usage_by_month')
    const write = await openNode()
    await write(countsOf(1))
    await sumPastDays(db, 2 * DAY_MS + HOUR_MS)
    assert.deepEqual(await months(), [[0, 1]])
    await write(countsOf(4))
    await write(countsOf(5, { day: 2 }))
    assert.deepEqual(await counts(), [10, 10, 10])
    assert.deepEqual(await months(), [[0, 5]])
    await sumPastDays(db, 3 * DAY_MS + HOUR_MS)
    assert.deepEqual(await counts(), [10, 10, 10])
    assert.deepEqual(await months(), [[0, 10]])
  })

  it('give a key its last use once its day is summed up, or when it is written after that', async () => {
    const engine = createPgEngine(pool)
    const db: Db = Object.assign(createQueries(engine.execute), { engine })
    const access = { type: 'secret', scopes: null, allowedOrigins: null } as const
    const terms = { userId, name: 'test', ...access, now: NOW, expiresAt: null }
    const [used, other] = [newKey(mintKey('secret'), terms), newKey(mintKey('secret'), terms)]
    for (const key of [used, other]) await insertKey(db, key, 100).run()
    const lastUses = async () =>
      new Map((await read('SELECT id, last_used_at FROM api_keys')) as [])
    const write = await openNode()
    await write(countsOf(1, { keyId: used.id, usedAt: DAY_MS + 2 }))
    await write(countsOf(1, { keyId: used.id, usedAt: DAY_MS + 1 }))
    const none = [used.id, other.id].map((id) => [id, null] as const)
    assert.deepEqual(await lastUses(), new Map(none))
    await sumPastDays(db, 2 * DAY_MS + HOUR_MS)
    assert.deepEqual(await lastUses(), new Map([...none, [used.id, DAY_MS + 2]]))
    await write(countsOf(1, { keyId: other.id, usedAt: DAY_MS + 3 }))
    await write(countsOf(1, { keyId: used.id, usedAt: DAY_MS + 1 }))
    const last = new Map([[used.id, DAY_MS + 2] as const, [other.id, DAY_MS + 3] as const])
    assert.deepEqual(await lastUses(), last)
  })

  it('are dropped for a user who was deleted meanwhile', async () => {
    const write = await openNode()
    await run('DELETE FROM users')
    assert.deepEqual((await write(countsOf(3))).notices, [])
    assert.deepEqual(await counts(), [0, 0, 0])
  })

  it('announce that a user is near the cap on one node only', async () => {
    const [one, other] = await Promise.all([openNode(), openNode()])
    const share = { percent: 80, isReported: true, isMailed: true }
    const notice: CapNotice = { userId, threshold: 'near_cap', cap: 10, ...share }
    assert.deepEqual((await one(countsOf(8, { notices: [notice] }))).notices, [notice])
    assert.deepEqual((await other(countsOf(1, { notices: [notice] }))).notices, [])
  })
})
