import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { openDb } from '../../lib/db/open.ts'
import { readDailyLookUps } from '../../lib/usage/daily-look-ups.ts'
import { createRequestCounts } from '../../lib/usage/request-counts.ts'
import { tempFolder } from '../support/temp-folder.ts'

const MIGRATIONS = new URL('../../lib/db/migrations/', import.meta.url)
const folder = tempFolder()

/** A database of an earlier release, which knew the migration of this number, with one user. */
function makeOlder(number: number, rows: string): string {
  const file = join(folder, `${number}.db`)
  const client = new Sqlite(file)
  for (const name of readdirSync(MIGRATIONS).toSorted().slice(0, number)) {
    client.exec(readFileSync(new URL(name, MIGRATIONS), 'utf8'))
  }
  client.exec(
    `INSERT INTO users (id, email, plan, created_at) VALUES ('ada', 'a@example.com', 'free', 0)`,
  )
  client.exec(rows)
  client.pragma(`user_version = ${number}`)
  client.close()
  return file
}

async function lookUpsIn(file: string): Promise<ReadonlyMap<number, number>> {
  const db = openDb(file)
  try {
    const requestCounts = createRequestCounts({ add: () => {}, waitingAt: () => [] })
    return await readDailyLookUps({ db, requestCounts }, 'ada', 0)
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
    const days = await lookUpsIn(makeOlder(23, BY_DAY))
    assert.deepEqual(
      [...days],
      [
        [7, 7],
        [9, 5],
      ],
    )
  })

  it('stay after an upgrade from a release that counted by day and by operation', async () => {
    const days = await lookUpsIn(makeOlder(24, BY_DAY + BY_OPERATION))
    assert.deepEqual(
      [...days],
      [
        [7, 7],
        [9, 5],
      ],
    )
  })
})
