import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Ledger } from '../../lib/db/ledger/ledger.ts'
import { openDb } from '../../lib/db/open.ts'
import { readDailyLookUps } from '../../lib/usage/daily-look-ups.ts'
import { createRequestCounts } from '../../lib/usage/request-counts.ts'
import { makeOlder } from '../support/database/older-database.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = tempFolder()

async function lookUpsIn(file: string): Promise<ReadonlyMap<number, number>> {
  const db = openDb(file)
  try {
    const requestCounts = createRequestCounts(new Ledger(assert.fail, () => assert.fail()))
    return (await readDailyLookUps({ db, requestCounts }, 'ada', 0))()
  } finally {
    db.$client.close()
  }
}

const BY_DAY = `INSERT INTO usage_by_day (user_id, day, key_id, requests)
  VALUES ('ada', 7, '', 3), ('ada', 7, 'key', 4), ('ada', 9, 'key', 5);`
const BY_OPERATION = `INSERT INTO usage_by_operation (day, user_id, key_id, operation, status, requests)
  VALUES (9, 'ada', 'key', 'locateAddress', 200, 3), (9, 'ada', 'key', 'locateAddress', 404, 2),
    (9, 'ada', 'key', 'locateAddress', 429, 6), (9, 'ada', 'key', 'listKeys', 200, 1);`

describe('look-ups by day', () => {
  it('stay after an upgrade from a release that did not count by operation', async () => {
    const days = await lookUpsIn(makeOlder(folder, 23, BY_DAY))
    assert.deepEqual(
      [...days],
      [
        [7, 7],
        [9, 5],
      ],
    )
  })

  it('stay after an upgrade from a release that counted by day and by operation', async () => {
    const days = await lookUpsIn(makeOlder(folder, 24, BY_DAY + BY_OPERATION))
    assert.deepEqual(
      [...days],
      [
        [7, 7],
        [9, 5],
      ],
    )
  })
})
