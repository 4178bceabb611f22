import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dayOf } from '../../lib/config/period.ts'
import { Ledger } from '../../lib/db/ledger/ledger.ts'
import { prepareCounts } from '../../lib/db/ledger/pending-counts.ts'
import { type LocalDb, openDb } from '../../lib/db/open.ts'
import { DAY_MS, HOUR_MS } from '../../lib/parts/durations.ts'
import { readDailyLookUps } from '../../lib/usage/daily-look-ups.ts'
import { sumPastDays } from '../../lib/usage/past-days.ts'
import { createRequestCounts } from '../../lib/usage/request-counts.ts'
import { makeOlder } from '../support/database/older-database.ts'
import { pendingCounts } from '../support/database/pending-counts.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = tempFolder()
const JANUARY = dayOf(Date.UTC(2026, 0))
const FEBRUARY = dayOf(Date.UTC(2026, 1))

const readMonths = ({ $client }: LocalDb, table: string) =>
  $client
    .prepare(
      `SELECT month, user_id, key_id, sum(requests), sum(errors), sum(limited) FROM ${table}
       GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    )
    .raw()
    .all()

describe('the sums of months', () => {
  it('have each day once it is over, for any number of users', async () => {
    const db = openDb(':memory:')
    db.$client.exec(
      `WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 1201)
       INSERT INTO users (id, email, plan, created_at) SELECT printf('%04d', n), n, 'free', 0 FROM n;
       INSERT INTO usage_by_operation
       SELECT day.value, users.id, key.value, operation.value, status.value, 1, 0, 0
       FROM users, json_each('[${FEBRUARY - 2},${FEBRUARY - 1},${FEBRUARY},${FEBRUARY + 1}]') AS day,
         json_each('["","k"]') AS key, json_each('["locateAddress","listKeys"]') AS operation,
         json_each('[200,404,429,503]') AS status`,
    )
    const expected = [JANUARY, FEBRUARY].flatMap((month) =>
      Array.from({ length: 1202 }, (_, n) => String(n).padStart(4, '0')).flatMap((id) =>
        ['', 'k'].map((key) => [month, id, key, 16, 8, 4]),
      ),
    )
    assert.deepEqual(readMonths(db, 'usage_of_months'), expected)
    await sumPastDays(db, FEBRUARY * DAY_MS + HOUR_MS)
    assert.deepEqual(readMonths(db, 'usage_by_month'), expected.slice(0, 1202 * 2))
    assert.deepEqual(readMonths(db, 'usage_of_months'), expected)
    await sumPastDays(db, (FEBRUARY + 2) * DAY_MS + HOUR_MS)
    assert.deepEqual(readMonths(db, 'usage_by_month'), expected)
    assert.deepEqual(readMonths(db, 'usage_of_months'), expected)
    db.$client.close()
  })

  it('get late counts of those users of a day whose others they have', async () => {
    const db = openDb(':memory:')
    const users = ['ada', 'bob', 'eve']
    db.$client.exec(
      `INSERT INTO users (id, email, plan, created_at) VALUES ${users.map((id) => `('${id}', '${id}', 'free', 0)`).join(', ')};
       INSERT INTO summed_usage VALUES (1, ${FEBRUARY}, 'bob')`,
    )
    const request = { keyId: '', operation: 'locateAddress', status: 200, day: FEBRUARY }
    const counted = users.map((userId) => ({
      userId,
      ...request,
      requests: 1,
      lookUps: 1,
      usedAt: 0,
    }))
    const operations = pendingCounts({ operations: counted })
    for (let n = 0; n < 2; n++) prepareCounts(db.$client)(operations)
    const expected = users.map((id) => [FEBRUARY, id, '', 2, 0, 0])
    assert.deepEqual(readMonths(db, 'usage_by_month'), expected.slice(0, 2))
    assert.deepEqual(readMonths(db, 'usage_of_months'), expected)
    await sumPastDays(db, (FEBRUARY + 1) * DAY_MS)
    assert.deepEqual(readMonths(db, 'usage_by_month'), expected.slice(0, 2))
    await sumPastDays(db, (FEBRUARY + 1) * DAY_MS + HOUR_MS)
    assert.deepEqual(readMonths(db, 'usage_by_month'), expected)
    assert.deepEqual(readMonths(db, 'usage_of_months'), expected)
    db.$client.close()
  })

  it('stay right after an upgrade from a release that added each request at once', async () => {
    const file = makeOlder(
      folder,
      25,
      `INSERT INTO usage_by_operation VALUES (${FEBRUARY}, 'ada', '', 'locateAddress', 200, 3, 3);
       INSERT INTO usage_by_month VALUES (${FEBRUARY}, 'ada', '', 3, 0, 0)`,
    )
    const db = openDb(file)
    const request = { userId: 'ada', keyId: '', operation: 'locateAddress', status: 429 }
    for (const day of [FEBRUARY, FEBRUARY + 1]) {
      const operations = [{ ...request, day, requests: 1, lookUps: 0, usedAt: 0 }]
      prepareCounts(db.$client)(pendingCounts({ operations }))
    }
    const expected = [[FEBRUARY, 'ada', '', 5, 2, 2]]
    assert.deepEqual(readMonths(db, 'usage_of_months'), expected)
    await sumPastDays(db, (FEBRUARY + 2) * DAY_MS + HOUR_MS)
    assert.deepEqual(readMonths(db, 'usage_of_months'), expected)
    assert.deepEqual(readMonths(db, 'usage_by_month'), expected)
    db.$client.close()
  })
})

const BY_DAY = `INSERT INTO usage_by_day (user_id, day, key_id, requests)
  VALUES ('ada', 7, '', 3), ('ada', 7, 'key', 4), ('ada', 9, 'key', 5);`
const BY_OPERATION = `INSERT INTO usage_by_operation (day, user_id, key_id, operation, status, requests)
  VALUES (9, 'ada', 'key', 'locateAddress', 200, 3), (9, 'ada', 'key', 'locateAddress', 404, 2),
    (9, 'ada', 'key', 'locateAddress', 429, 6), (9, 'ada', 'key', 'listKeys', 200, 1);`

describe('look-ups by day', () => {
  const releases = [
    ['did not count by operation', 23, BY_DAY],
    ['counted by day and by operation', 24, BY_DAY + BY_OPERATION],
  ] as const
  for (const [name, number, rows] of releases) {
    it(`stay after an upgrade from a release that ${name}`, async () => {
      const db = openDb(makeOlder(folder, number, rows))
      const requestCounts = createRequestCounts(new Ledger(assert.fail, () => assert.fail()))
      const days = (await readDailyLookUps({ db, requestCounts }, 'ada', 0))()
      db.$client.close()
      assert.deepEqual(Object.fromEntries(days), { 7: 7, 9: 5 })
    })
  }
})
