import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dayOf } from '../../lib/config/period.ts'
import { prepareCounts } from '../../lib/db/ledger/pending-counts.ts'
import { type LocalDb, openDb } from '../../lib/db/open.ts'
import { DAY_MS, HOUR_MS } from '../../lib/parts/durations.ts'
import { sumPastDays } from '../../lib/usage/past-days.ts'
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
       SELECT day.value, users.id, key.value, operation.value, status.value, 1, 0
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
    const count = () =>
      prepareCounts(db.$client)(
        pendingCounts({
          operations: users.map((userId) => ({
            ...{ userId, keyId: '', operation: 'locateAddress', status: 200 },
            ...{ day: FEBRUARY, requests: 1, lookUps: 1 },
          })),
        }),
      )
    count()
    count()
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
    const countOn = (day: number) =>
      prepareCounts(db.$client)(
        pendingCounts({
          operations: [{ ...request, day, requests: 1, lookUps: 0 }],
        }),
      )
    countOn(FEBRUARY)
    countOn(FEBRUARY + 1)
    const expected = [[FEBRUARY, 'ada', '', 5, 2, 2]]
    assert.deepEqual(readMonths(db, 'usage_of_months'), expected)
    await sumPastDays(db, (FEBRUARY + 2) * DAY_MS + HOUR_MS)
    assert.deepEqual(readMonths(db, 'usage_of_months'), expected)
    assert.deepEqual(readMonths(db, 'usage_by_month'), expected)
    db.$client.close()
  })
})
