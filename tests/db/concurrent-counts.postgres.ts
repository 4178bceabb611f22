import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { deleteAccountRows } from '../../lib/accounts/delete-account-rows.ts'
import { insertUser, newUser } from '../../lib/accounts/users.ts'
import type { PendingCounts } from '../../lib/db/ledger/pending-counts.ts'
import { createPgCounts } from '../../lib/db/ledger/pg-pending-counts.ts'
import { DAY_MS, HOUR_MS } from '../../lib/parts/durations.ts'
import type { PgPool } from '../../lib/postgres/connection.ts'
import { migratePg } from '../../lib/postgres/migrate.ts'
import { joinNodes } from '../../lib/postgres/nodes/nodes.ts'
import { createPgDb } from '../../lib/storage/pg-engine.ts'
import { sumPastDays } from '../../lib/usage/past-days.ts'
import { pendingCounts, UNPAID } from '../support/database/pending-counts.ts'
import { openTestPool, startPostgres } from '../support/database/postgres-server.ts'
import { closedAfterTest, shared } from '../support/scene/freshly.ts'

const NOW = Date.UTC(2026, 0, 15, 12)
const NEVER = new AbortController().signal
const TABLES = ['usage_by_operation', 'usage_by_month', 'usage_by_period']

const server = shared(startPostgres)
const closed = closedAfterTest()
let pool: PgPool
let node: string
let userId: string
beforeEach(async () => {
  pool = closed(openTestPool(await server.createDatabase()))
  await migratePg(pool)
  node = closed(await joinNodes(pool, 'test', -1)).id
  const user = newUser({ email: 'ada@example.com', plan: 'free', now: NOW })
  await insertUser(createPgDb(pool), user).run()
  userId = user.id
})

/** A pool whose next commit waits. */
function holdCommit() {
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const held: PgPool = {
    ...pool,
    use: (work, longestMs) =>
      pool.use(
        (connection) =>
          work({
            ...connection,
            query: async (text, params) => {
              if (text === 'COMMIT') {
                reached.resolve()
                await released.promise
              }
              return connection.query(text, params)
            },
          }),
        longestMs,
      ),
  }
  return { held, reached: reached.promise, release: released.resolve }
}

const deleteAccount = (through: PgPool) => {
  const who = { app: 'api', actorId: userId, actorLabel: 'ada@example.com' } as const
  const event = { ...who, action: 'delete_account', createdAt: NOW } as const
  return deleteAccountRows(createPgDb(through), userId, { event, baseUrl: 'http://localhost' })
}

const writeCounts = (through: PgPool) =>
  createPgCounts({ pool: through, node, onError: assert.fail })(countsOf(), NEVER)

/** One request of the user, in all tables. */
function countsOf(): PendingCounts {
  const bucket = { spent: 1, at: NOW }
  const requests = 1
  return pendingCounts({
    users: [{ userId, periodStart: 0, requests, ...UNPAID, ...bucket, notices: [] }],
    operations: [
      {
        userId,
        keyId: '',
        day: 1,
        operation: 'locate',
        status: 200,
        requests,
        lookUps: requests,
        usedAt: NOW,
      },
    ],
  })
}

async function readNumber(sql: string): Promise<number> {
  const { rows } = await pool.use((connection) => connection.query(sql))
  return Number(rows[0]?.[0])
}

/** Waits until a statement waits for the lock of another one. */
async function untilOneWaits(): Promise<void> {
  const signal = AbortSignal.timeout(20_000)
  const sql = `SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`
  while ((await readNumber(sql)) === 0) await sleep(10, undefined, { signal })
}

async function assertNothingLeft(): Promise<void> {
  for (const table of TABLES) {
    assert.equal(await readNumber(`SELECT count(*) FROM ${table}`), 0, table)
  }
}

describe('the deletion of an account', () => {
  it('also removes the counts that another node is writing', async () => {
    const { held, reached, release } = holdCommit()
    const writing = writeCounts(held)
    await reached
    const deleting = deleteAccount(pool)
    await untilOneWaits()
    release()
    assert.equal(await deleting, true)
    assert.equal((await writing).totals?.length, 1)
    await assertNothingLeft()
  })

  it('drops the counts that another node writes afterwards', async () => {
    await writeCounts(pool)
    const { held, reached, release } = holdCommit()
    const deleting = deleteAccount(held)
    await reached
    const writing = writeCounts(pool)
    await untilOneWaits()
    release()
    assert.equal(await deleting, true)
    await writing
    await assertNothingLeft()
  })
})

describe('the sum of a day', () => {
  const sumUp = (through: PgPool) => sumPastDays(createPgDb(through), 2 * DAY_MS + HOUR_MS)
  const readMonth = () => readNumber('SELECT sum(requests) FROM usage_by_month')

  it('waits for counts that another node is writing', async () => {
    await writeCounts(pool)
    const { held, reached, release } = holdCommit()
    const writing = writeCounts(held)
    await reached
    const summing = sumUp(pool)
    await untilOneWaits()
    release()
    await Promise.all([writing, summing])
    assert.equal(await readMonth(), 2)
  })

  it('gets counts that another node writes afterwards', async () => {
    await writeCounts(pool)
    const { held, reached, release } = holdCommit()
    const summing = sumUp(held)
    await reached
    const writing = writeCounts(pool)
    await untilOneWaits()
    release()
    await Promise.all([writing, summing])
    assert.equal(await readMonth(), 2)
  })
})
