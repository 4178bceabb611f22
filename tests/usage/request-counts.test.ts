import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { dayOf } from '../../lib/config/period.ts'
import { Ledger } from '../../lib/db/ledger/ledger.ts'
import { prepareCounts } from '../../lib/db/ledger/pending-counts.ts'
import { type LocalDb, openDb } from '../../lib/db/open.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { readDailyLookUps } from '../../lib/usage/daily-look-ups.ts'
import { sumPastDays } from '../../lib/usage/past-days.ts'
import { createRequestCounts } from '../../lib/usage/request-counts.ts'
import { putEmptyDatabase } from '../support/data-folder.ts'
import { NOON } from '../support/helpers.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = tempFolder()
const USERS = ['ada', 'bob']

/** Counters over a database that can refuse writes. */
function open() {
  const file = join(folder, `${randomUUID()}.db`)
  putEmptyDatabase(file)
  const db = openDb(file)
  const insert = 'INSERT INTO users (id, email, plan, created_at) VALUES (?, ?, ?, 0)'
  for (const name of USERS) db.$client.prepare(insert).run(name, `${name}@example.com`, 'free')
  const disk = { isFull: false }
  const write = prepareCounts(db.$client)
  const store = async (counts: Parameters<typeof write>[0]) => {
    if (disk.isFull) throw new Error('full')
    return write(counts)
  }
  const ledger = new Ledger(store, () => {})
  return { db, disk, ledger, counts: createRequestCounts(ledger) }
}

function storedIn({ $client }: LocalDb): Map<string, number> {
  const rows = $client
    .prepare<[], { id: string; requests: number }>(
      `SELECT format('%s/%s %d %s %d', user_id, key_id, day, operation, status) AS id, requests
       FROM usage_by_operation`,
    )
    .all()
  return new Map(rows.map(({ id, requests }) => [id, requests]))
}

/** The look-ups of all users by day, written or not. */
async function dailyLookUps({ db, counts: requestCounts }: ReturnType<typeof open>) {
  const ofUsers = USERS.map(async (userId) => {
    const days = (await readDailyLookUps({ db, requestCounts }, userId, dayOf(NOON)))()
    return [...days].map(([day, lookUps]) => [`${userId} ${day}`, lookUps] as const)
  })
  return new Map((await Promise.all(ofUsers)).flat().filter(([, lookUps]) => lookUps > 0))
}

interface Asked {
  readonly userId: string
  readonly key: string
  readonly operation: string
  readonly status: number
  readonly now: number
  readonly lookUps: number
}

const ONE: Asked = {
  ...{ userId: 'ada', key: 'k1', operation: 'locateBatch', status: 200, now: NOON },
  lookUps: 3,
}

const LISTED = { operation: 'listKeys', status: 200, requests: 1, lookUps: 0 }

const Request: fc.Arbitrary<Asked> = fc.record({
  userId: fc.constantFrom(...USERS),
  key: fc.constantFrom('', 'k1', 'k2'),
  operation: fc.constantFrom('locateAddress', 'getTimezone', 'listKeys'),
  status: fc.constantFrom(200, 404, 429),
  now: fc.constantFrom(NOON - DAY_MS, NOON, NOON + DAY_MS),
  lookUps: fc.integer({ min: 0, max: 5 }),
})
const WHILE_WRITING = ['count while writing', 'forget while writing'] as const
const ACTS = ['flush', 'sum up', 'fail', 'forget', ...WHILE_WRITING] as const

const Step = fc.oneof(
  { weight: 8, arbitrary: Request },
  { weight: 1, arbitrary: fc.constantFrom(...ACTS) },
)

/** Counts in memory and in a plain map. */
class Tally {
  readonly service = open()
  readonly expected = new Map<string, number>()
  /** By user and day, since noon's day. */
  readonly lookUps = new Map<string, number>()

  count({ userId, key, operation, status, now, lookUps }: Asked): void {
    // The id of a key belongs to one user.
    const keyId = key === '' ? '' : `${userId}-${key}`
    const counter = this.service.counts.findCounter(userId, keyId === '' ? null : keyId)
    counter.count({ operation, status, requests: 1, lookUps }, now)
    const id = `${userId}/${keyId} ${dayOf(now)} ${operation} ${status}`
    this.expected.set(id, (this.expected.get(id) ?? 0) + 1)
    const day = `${userId} ${dayOf(now)}`
    if (now >= NOON && lookUps > 0) this.lookUps.set(day, (this.lookUps.get(day) ?? 0) + lookUps)
  }

  async run(step: Asked | (typeof ACTS)[number]): Promise<void> {
    if (typeof step !== 'string') return this.count(step)
    const { counts, disk, ledger } = this.service
    if (step === 'forget') return counts.removeWritten()
    if (step === 'sum up') return sumPastDays(this.service.db, NOON)
    disk.isFull = step === 'fail'
    const flushing = ledger.flush().catch(() => {})
    if (step === 'count while writing') this.count(ONE)
    if (step === 'forget while writing') await counts.removeWritten()
    await flushing
    disk.isFull = false
  }
}

describe('the counts of requests', () => {
  it('are written once each, whatever fails and whatever is counted meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(Step, { maxLength: 60 }), async (steps) => {
        const tally = new Tally()
        for (const step of steps) {
          await tally.run(step)
          assert.deepEqual(await dailyLookUps(tally.service), tally.lookUps)
        }
        await tally.run('flush')
        const { db } = tally.service
        assert.deepEqual(storedIn(db), tally.expected)
        const sum = total(tally.expected)
        assert.deepEqual(sumsOf(db), Array(3).fill(sum))
        await sumPastDays(db, NOON + 2 * DAY_MS)
        assert.deepEqual(sumsOf(db), Array(3).fill(sum))
        assert.equal(sumOf(db, 'usage_by_month'), sum)
        db.$client.close()
      }),
      { numRuns: 60 },
    )
  })

  it('are not lost if a request ends after its counters were written and forgotten', async () => {
    const { db, ledger, counts } = open()
    const early = counts.findCounter('ada', 'k1')
    early.count(LISTED, NOON)
    await ledger.flush()
    await counts.removeWritten()
    assert.notEqual(counts.findCounter('ada', 'k1'), early)
    counts.findCounter('ada', 'k1').count(LISTED, NOON)
    early.count(LISTED, NOON)
    await ledger.flush()
    assert.deepEqual([...storedIn(db).values()], [3])
    db.$client.close()
  })

  it('are dropped if the user is deleted meanwhile', async () => {
    const { db, ledger, counts } = open()
    counts.findCounter('ada', null).count(LISTED, NOON)
    db.$client.exec("DELETE FROM users WHERE id = 'ada'")
    await ledger.flush()
    assert.equal(storedIn(db).size, 0)
    db.$client.close()
  })
})

function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, n) => sum + n, 0)
}

/** By day, by month and of all users. */
function sumsOf(db: LocalDb): number[] {
  return ['usage_by_operation', 'usage_of_months', 'usage_of_all'].map((table) => sumOf(db, table))
}

function sumOf({ $client }: LocalDb, table: string): number {
  return Number($client.prepare(`SELECT coalesce(sum(requests), 0) FROM ${table}`).pluck().get())
}
