import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { METRICS } from '../../../lib/contract/telemetry/metrics.ts'
import { RumOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { toRow } from '../../../lib/rum/store/row.ts'
import { readRows, readValue } from '../../support/database/sql.ts'
import { NOON } from '../../support/helpers.ts'
import { freshScene } from '../../support/scene/scene.ts'

// What a newer release stores is read after a rollback, and by older nodes beside newer ones.

const ORIGIN = 'https://shop.example'
const PATH = '/v1/telemetry/rum/overview?domain=shop.example&series=day'
const SKETCHES = ['rum_sketches', 'rum_days', 'rum_pages']
/** The index, the ratings, and one centroid with the value 7. */
const NEWER_METRIC = Uint8Array.of(METRICS.length, 1, 0, 0, 1, 7, 2)

const app = freshScene({}, async () => {
  await ada.key()
  await ada.site(ORIGIN)
})
const ada = app.user('ada')

async function post(lcp: number): Promise<void> {
  const headers = { origin: ORIGIN, 'user-agent': 'Mozilla/5.0' }
  const body = { path: '/cart', deviceType: 'mobile', connectionType: '4g', metrics: { lcp } }
  const errors = lcp > 1_000 ? [{ message: 'no', line: 3 }] : []
  const sent = await app.send('POST', '/v1/telemetry/rum', { headers, body: { ...body, errors } })
  assert.equal(sent.status, 204)
}

/** Every answer is also checked against its row of the contract. */
async function overview() {
  const { status, body } = await ada.send('GET', PATH)
  assert.equal(status, 200)
  return v.parse(RumOverview, body)
}

async function change(sql: string, ...params: unknown[]): Promise<void> {
  assert.equal((await app.services.db.execute({ sql, params })).changes, 1, sql)
}

async function addNewerMetric(table: string): Promise<void> {
  const stored = await readValue(app, `SELECT sketches FROM ${table}`)
  assert.ok(stored instanceof Uint8Array)
  const bytes = Buffer.concat([stored, NEWER_METRIC])
  await change(`UPDATE ${table} SET sketches = ?`, bytes)
}

describe('rows of a newer release', () => {
  it('are read without its metrics, which stay in rows that this release rewrites', async () => {
    await post(900)
    const before = await overview()
    for (const table of SKETCHES) await addNewerMetric(table)
    assert.deepEqual(await overview(), before)
    const summary = '/v1/telemetry/rum/summary?domain=shop.example'
    assert.equal((await ada.send('GET', summary)).status, 200)
    await post(700)
    assert.equal((await overview()).metrics.lcp.sampleCount, 2)
    for (const table of SKETCHES) {
      const [row] = await readRows<[number, Uint8Array]>(
        app,
        `SELECT samples, sketches FROM ${table}`,
      )
      assert.ok(row !== undefined)
      const { measures } = toRow({ samples: row[0], sketches: row[1] })
      assert.equal(measures.lcp?.sketch.n, 2, table)
      assert.equal(measures[`newer ${METRICS.length}`]?.sketch.n, 1, table)
    }
  })

  it('are read without its kinds of counts and its fields of errors', async () => {
    await post(2_000)
    const before = await overview()
    const [siteId] = (await readRows<[string]>(app, 'SELECT id FROM sites'))[0] ?? []
    const hour = Math.floor(NOON / 3_600_000)
    const add = 'INSERT INTO rum_counts (site_id, hour, kind, label, count) VALUES (?, ?, ?, ?, 3)'
    await change(add, siteId, hour, 'route', 'soft')
    await change(add, siteId, hour, 'beacon', 'too-old')
    const sample = JSON.stringify({ message: 'no', line: 3, path: '/cart', release: '9' })
    await change('UPDATE rum_error_samples SET sample = ?', sample)
    assert.deepEqual(await overview(), before)
  })

  it('may have kinds of devices that this one does not know', async () => {
    await post(900)
    await overview()
    await change("UPDATE rum_days SET device = 'watch'")
    await change("UPDATE rum_sketches SET device = 'watch'")
    assert.deepEqual(
      (await overview()).devices.map(({ deviceType }) => deviceType),
      ['watch'],
    )
  })
})
