import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type LocalDb, openDb } from '../../../lib/db/open.ts'
import { DAY_MS } from '../../../lib/parts/durations.ts'
import { KEPT_DAYS } from '../../../lib/rum/hour.ts'
import { keepBeacon } from '../../../lib/rum/ingest/beacon.ts'
import { removeOld } from '../../../lib/rum/store/retention.ts'
import { NOON } from '../../support/helpers.ts'
import { openRum } from '../open-rum.ts'

const NAMES = ['hours', 'sketches', 'days', 'paths', 'errors', 'error_samples', 'counts']
const TABLES = NAMES.map((name) => `rum_${name}`)

/** Sends one beacon with all kinds of data for each day before NOON. */
async function fill(db: LocalDb, siteId: string, days: number): Promise<void> {
  const rum = openRum({
    db,
    findCountry: () => 'GB',
    onError: assert.ifError,
  })
  const beacon = keepBeacon({ path: '/a', metrics: { lcp: 1 }, errors: [{ message: 'no' }] })
  const sent = Array.from({ length: days }, (_, day) =>
    rum.accept(siteId, beacon, { address: null, now: NOON - day * DAY_MS }),
  )
  await Promise.all(sent)
  await rum[Symbol.asyncDispose]()
}

function rows(db: LocalDb, siteId: string): unknown[] {
  return TABLES.map((table) =>
    db.$client.prepare(`SELECT count(*) FROM ${table} WHERE site_id = ?`).pluck().get(siteId),
  )
}

describe('removeOld', () => {
  it('removes rows older than the longest period that the summary takes, and rows of deleted sites', async () => {
    const db = openDb(':memory:')
    db.$client.exec(`
      INSERT INTO users (id, email, plan, created_at) VALUES ('u', 'a@b.c', 'free', 1);
      INSERT INTO sites (id, user_id, name, created_at) VALUES ('kept', 'u', 'https://a.example', 1)`)
    await fill(db, 'kept', 700)
    await fill(db, 'gone', 600)
    assert.deepEqual(rows(db, 'kept'), Array(7).fill(700))
    await removeOld(db, NOON)
    assert.deepEqual(rows(db, 'kept'), Array(7).fill(KEPT_DAYS + 1))
    assert.deepEqual(rows(db, 'gone'), Array(7).fill(0))
  })
})
