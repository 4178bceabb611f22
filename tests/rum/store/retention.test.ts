import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Db, openDb } from '../../../lib/db/open.ts'
import { keepBeacon } from '../../../lib/rum/beacon.ts'
import { removeOld } from '../../../lib/rum/retention.ts'
import { openRum } from '../../../lib/rum/rum.ts'
import { NOON } from '../../helpers.ts'

const DAY_MS = 86_400_000
const TABLES = ['hours', 'sketches', 'days', 'paths', 'errors', 'counts'].map((n) => `rum_${n}`)

/** One beacon of everything for each day before NOON. */
async function fill(db: Db, siteId: string, days: number): Promise<void> {
  const rum = openRum({
    db,
    now: () => NOON,
    findSites: () => [],
    findCountry: () => 'GB',
    onError: assert.ifError,
  })
  const beacon = keepBeacon({ path: '/a', metrics: { lcp: 1 }, errors: [{ message: 'no' }] })
  const sent = Array.from({ length: days }, (_, day) =>
    rum.accept([siteId], beacon, { address: null, now: NOON - day * DAY_MS }),
  )
  await Promise.all(sent)
  rum[Symbol.dispose]()
}

function rows(db: Db, siteId: string): unknown[] {
  return TABLES.map((table) =>
    db.$client.prepare(`SELECT count(*) FROM ${table} WHERE site_id = ?`).pluck().get(siteId),
  )
}

describe('what is older than 90 days', () => {
  it('is removed, and what is of a site that is gone', async () => {
    const db = openDb(':memory:')
    db.$client.exec(`
      INSERT INTO users (id, email, plan, created_at) VALUES ('u', 'a@b.c', 'free', 1);
      INSERT INTO sites (id, user_id, name, created_at) VALUES ('kept', 'u', 'https://a.example', 1)`)
    await fill(db, 'kept', 700)
    await fill(db, 'gone', 600)
    assert.deepEqual(rows(db, 'kept'), [700, 700, 700, 700, 700, 700])
    await removeOld(db, NOON)
    assert.deepEqual(rows(db, 'kept'), [91, 91, 91, 91, 91, 91])
    assert.deepEqual(rows(db, 'gone'), [0, 0, 0, 0, 0, 0])
  })
})
