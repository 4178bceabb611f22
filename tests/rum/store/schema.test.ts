import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { VITALS } from '../../../lib/contract/telemetry/metrics.ts'
import { openDb } from '../../../lib/db/open.ts'
import { createRumStore } from '../../../lib/rum/store/store.ts'

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
  rum_counted: [SITE, 'last_id INTEGER'],
  rum_counts: [SITE, HOUR, 'kind TEXT key', 'label TEXT key', 'count INTEGER'],
  rum_days: [SITE, DAY, ...PLACE, ...STORED],
  rum_error_samples: [SITE, DAY, 'hash TEXT key', 'sample TEXT'],
  rum_errors: [SITE, HOUR, 'hash TEXT key', 'count INTEGER', 'first_at INTEGER', 'last_at INTEGER'],
  rum_hours: [SITE, HOUR, ...PLACE, 'samples INTEGER', ...PERCENTILES],
  rum_journal: [SITE, 'id INTEGER key', 'received_at INTEGER', 'country TEXT', 'beacon TEXT'],
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
      assert.deepEqual(
        keys,
        keys.map((_, at) => at + 1),
      )
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
