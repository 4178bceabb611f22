import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { VITALS } from '../../../lib/contract/telemetry/metrics.ts'
import { openPlain } from '../../../lib/db/connection.ts'
import { type LocalDb, openDb } from '../../../lib/db/open.ts'
import { DAY_MS } from '../../../lib/parts/durations.ts'
import { hourOf, KEPT_DAYS } from '../../../lib/rum/hour.ts'
import { keepBeacon } from '../../../lib/rum/ingest/beacon.ts'
import { createReadStore } from '../../../lib/rum/read/read-store.ts'
import { removeOld } from '../../../lib/rum/store/retention.ts'
import { createRumStore } from '../../../lib/rum/store/store.ts'
import { makeOldDatabase } from '../../support/data-folder.ts'
import { NOON } from '../../support/helpers.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openRum } from '../open-rum.ts'

const SITE = 'site_id TEXT key'
const HOUR = 'hour INTEGER key'
const DAY = 'day INTEGER key'
const PLACE = ['country TEXT key', 'device TEXT key']
const STORED = ['samples INTEGER', 'sketches BLOB', 'last_id INTEGER = 0']
const PERCENTILES = VITALS.flatMap((vital) =>
  ['p50', 'p75', 'p95'].map((name) => `${vital}_${name} REAL null`),
)

/** The columns of each table: name, type, whether it is in the key or may be null, default. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  rum_attribution: [SITE, DAY, 'label TEXT key', 'count INTEGER'],
  rum_counted: [SITE, 'last_id INTEGER'],
  rum_counts: [SITE, HOUR, 'kind TEXT key', 'label TEXT key', 'count INTEGER'],
  rum_days: [SITE, DAY, ...PLACE, ...STORED],
  rum_error_samples: [SITE, DAY, 'hash TEXT key', 'sample TEXT'],
  rum_errors: [SITE, HOUR, 'hash TEXT key', 'count INTEGER', 'first_at INTEGER', 'last_at INTEGER'],
  rum_hours: [SITE, HOUR, ...PLACE, 'samples INTEGER', ...PERCENTILES],
  rum_journal: [SITE, 'id INTEGER key', 'received_at INTEGER', 'country TEXT', 'beacon TEXT'],
  rum_pages: [SITE, DAY, 'path TEXT key', 'device TEXT key', ...STORED],
  rum_paths: [SITE, DAY, 'path TEXT key', ...STORED],
  rum_sketches: [SITE, HOUR, ...PLACE, ...STORED],
}

interface Column {
  readonly name: string
  readonly type: string
  readonly notnull: number
  readonly pk: number
  readonly dflt_value: string | null
}

describe('the tables of telemetry', () => {
  const db = openDb(':memory:')
  const { $client } = db

  for (const [table, expected] of Object.entries(TABLES)) {
    it(`have the expected columns, and a key in the same order: ${table}`, () => {
      const columns = $client
        .prepare<[], Column>(
          `SELECT name, type, "notnull", pk, dflt_value FROM pragma_table_xinfo('${table}')`,
        )
        .all()
      assert.deepEqual(columns.map(describeColumn), expected)
      const keys = columns.filter(({ pk }) => pk > 0).map(({ pk }) => pk)
      const inOrder = keys.map((_, at) => at + 1)
      assert.deepEqual(keys, inOrder)
    })

    it(`have neither further indexes nor references to other tables: ${table}`, () => {
      const count = (list: string) => $client.prepare(`SELECT count(*) FROM ${list}`).pluck().get()
      assert.equal(count(`pragma_index_list('${table}') WHERE origin <> 'pk'`), 0)
      assert.equal(count(`pragma_foreign_key_list('${table}')`), 0)
    })
  }

  it('are all tables whose name starts with rum_', () => {
    const names = $client
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'rum_%'")
      .pluck()
      .all()
    assert.deepEqual(names.toSorted(), Object.keys(TABLES))
  })

  it('accept every statement that the store prepares', () => {
    assert.doesNotThrow(() => createRumStore(db))
  })
})

function describeColumn({ name, type, notnull, pk, dflt_value }: Column): string {
  const key = pk > 0 ? ' key' : ''
  const nullable = notnull === 1 ? '' : ' null'
  const value = dflt_value === null ? '' : ` = ${dflt_value}`
  return `${name} ${type}${key}${nullable}${value}`
}

/** The tables of what was sent, to which each beacon adds a row. */
const FILLED = ['hours', 'sketches', 'days', 'pages', 'errors', 'error_samples', 'counts']

/** Sends one beacon with all kinds of data for each day before NOON. */
async function fill(db: LocalDb, siteId: string, days: number): Promise<void> {
  const rum = openRum({ db, findCountry: () => 'GB', onError: assert.ifError })
  const beacon = keepBeacon({ path: '/a', metrics: { lcp: 1 }, errors: [{ message: 'no' }] })
  const sent = Array.from({ length: days }, (_, day) =>
    rum.accept(siteId, beacon, { address: null, now: NOON - day * DAY_MS }),
  )
  await Promise.all(sent)
  await rum[Symbol.asyncDispose]()
}

function rows(db: LocalDb, siteId: string): unknown[] {
  return FILLED.map((table) =>
    db.$client.prepare(`SELECT count(*) FROM rum_${table} WHERE site_id = ?`).pluck().get(siteId),
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

const BEFORE_SAMPLES = 15

it('an upgrade keeps the first sample of each kind of error and day, and all counts', async () => {
  const file = join(tempFolder(), 'old.db')
  makeOldDatabase(file, BEFORE_SAMPLES)
  const client = openPlain(file)
  const insert = client.prepare('INSERT INTO rum_errors VALUES (?, ?, ?, ?, ?, ?, ?)')
  const hour = hourOf(NOON)
  const day = Math.floor(hour / 24)
  const add = (at: number, hash: string, sample: string) =>
    insert.run('site', at, hash, 2, at, at, JSON.stringify({ message: sample }))
  add(hour + 1, 'a', 'second of the day')
  add(hour, 'a', 'first of the day')
  add(hour + 24, 'a', 'next day')
  add(hour + 1, 'b', 'another kind')
  client.close()
  const { engine } = openDb(file)
  const store = createReadStore(async (sql, params) => (await engine.execute({ sql, params })).rows)
  const messageOf = async (at: number, hash: string) =>
    (await store.findErrorSample({ siteId: 'site', day: at, hash }))?.message
  assert.equal(await messageOf(day, 'a'), 'first of the day')
  assert.equal(await messageOf(day, 'b'), 'another kind')
  assert.equal(await messageOf(day + 1, 'a'), 'next day')
  assert.equal(await messageOf(day + 1, 'b'), undefined)
  assert.deepEqual(await store.totalErrors('site', { from: hour, to: hour + 24 }), [
    { hash: 'a', count: 6, firstAt: hour, lastAt: hour + 24 },
    { hash: 'b', count: 2, firstAt: hour + 1, lastAt: hour + 1 },
  ])
})
