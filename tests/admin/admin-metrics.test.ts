import assert from 'node:assert/strict'
import { readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { AUTH_REQUESTS } from '../../lib/contract/account/auth.ts'
import { operations } from '../../lib/contract/operations.ts'
import {
  AUTH_BASE_PATH,
  assetPath,
  DOCS_PATH,
  HOME_PATH,
  ROBOTS_PATH,
} from '../../lib/contract/pages.ts'
import { pinnedScriptPath, SCRIPT_PATH } from '../../lib/contract/telemetry/script.ts'
import { createJob } from '../../lib/services/operate/job.ts'
import { listScrapedMetrics } from '../../lib/services/scraped-metrics.ts'
import { newSecretKey } from '../../stripe-double/ids.ts'
import { startLitestreamServer } from '../doctor/litestream-server.ts'
import { readPrometheusText, readValue } from '../parts/metrics/prometheus-text.ts'
import { mmdbBytes } from '../support/geo-files.ts'
import { makeApp, NOON } from '../support/helpers.ts'
import { ON_POSIX } from '../support/runtime.ts'
import { freshClient } from '../support/scene/send.ts'
import { openAdmin, sharedAdmin } from './admin-port.ts'

// run: only on SQLite, because it reads the size of the database file

const OPERATIONS = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
const NO_DOWNLOADS = {
  isRegular: true,
  downloadIfDue: async () => {},
  job: createJob(async () => {}, Date.now),
  last: () => ({ failedAt: 0, succeededAt: 0 }),
}
const REQUESTS = 'http_server_request_duration_seconds'
const ORIGIN = 'https://shop.example'

let key: string
const { app, admin } = sharedAdmin(async () => {
  key = await app.makeKey()
})

describe('GET /metrics', () => {
  it('is valid and describes the service', async () => {
    await app.send('GET', '/v1/ip/81.2.69.160', { key })
    const families = await admin.scrape()
    const databases = families.get('meridian_geo_build_timestamp_seconds')?.samples ?? []
    const scraped = databases.map(({ labels, value }) => ({ ...labels, value }))
    const expected = app.services.geo.list().map(({ name: database, provider, metadata }) => {
      return { database, provider, value: metadata.builtAt / 1000 }
    })
    assert.deepEqual(scraped, expected)
    assert.equal(readValue(families, 'meridian_health', { check: 'database' }), 1)
    assert.equal(readValue(families, 'meridian_keys'), 1)
    assert.equal(readValue(families, 'meridian_geo_atlas'), 0)
    assert.ok(readValue(families, 'meridian_database_bytes') > 0)
    assert.ok(readValue(families, 'meridian_database_wal_bytes') > 0)
    assert.equal(families.get('meridian_build_info')?.samples.length, 1)
    const sold = families.has('meridian_reconciliation_timestamp_seconds')
    assert.equal(sold, false, 'nothing is sold')
  })

  it('counts requests by operation and status', async () => {
    const labels = { http_route: '/v1/ip/{ipAddress}', http_response_status_code: '200' }
    const counted = async () => readValue(await admin.scrape(), `${REQUESTS}_count`, labels)
    await app.send('GET', '/v1/ip/81.2.69.160', { key })
    const before = await counted()
    await app.send('GET', '/v1/ip/81.2.69.160', { key })
    await app.send('GET', '/v1/ip/81.2.69.160')
    assert.equal(await counted(), before + 1)
  })

  it('says how long counters have waited', async () => {
    const lag = async () => readValue(await admin.scrape(), 'meridian_flush_lag_seconds')
    // The service may write counters between the two readings.
    do await app.send('GET', '/v1/ip/81.2.69.160', { key })
    while ((await lag()) === 0)
    await app.services.ledger.flush()
    assert.equal(await lag(), 0)
    assert.equal(readValue(await admin.scrape(), 'meridian_flush_waiting'), 0)
  })

  it('counts beacons by outcome', async () => {
    await app.send('POST', '/v1/account/me/sites', { key, body: { name: ORIGIN } })
    const beacon = (agent: string) =>
      app.send('POST', '/v1/telemetry/rum', {
        body: { path: '/', deviceType: 'desktop', metrics: { lcp: 1 } },
        headers: { origin: ORIGIN, 'user-agent': agent },
      })
    assert.equal((await beacon('Mozilla/5.0')).status, 204)
    assert.equal((await beacon('Googlebot/2.1')).status, 204)
    const families = await admin.scrape()
    const results = ['stored', 'bot', 'queue-full', 'failed'].map((result) =>
      readValue(families, 'meridian_rum_beacons_total', { result }),
    )
    assert.deepEqual(results, [1, 1, 0, 0])
    assert.equal(readValue(families, 'meridian_rum_beacons_waiting'), 0)
  })

  it('says when the latest backup was made', async () => {
    await using other = await makeApp({ env: { MERIDIAN_BACKUP_DIR: app.dataDir } })
    using port = await openAdmin(other.services)
    const measured = async () => readValue(await port.scrape(), 'meridian_backup_timestamp_seconds')
    assert.equal(await measured(), 0)
    writeFileSync(join(app.dataDir, 'meridian-2026-01-15T120000Z.tar.gz'), '')
    assert.equal(await measured(), NOON / 1000)
  })

  it(
    'says when Litestream last completed the copy, and 0 if it does not answer',
    ON_POSIX,
    async () => {
      await using other = await makeApp({ env: { MERIDIAN_REPLICATED: '1' } })
      using port = await openAdmin(other.services)
      const measured = async () => readValue(await port.scrape(), 'meridian_copy_timestamp_seconds')
      assert.equal(await measured(), 0)
      await using litestream = await startLitestreamServer(other.dataDir)
      litestream.answer({ syncedAt: NOON, read: 0 })
      assert.equal(await measured(), NOON / 1000)
    },
  )

  it('says when databases were last downloaded, if the server downloads them', async () => {
    const [failedAt, succeededAt] = [NOON + 5_000, NOON]
    const downloads = { ...NO_DOWNLOADS, last: () => ({ failedAt, succeededAt }) }
    await using other = await makeApp({ replace: () => ({ downloads }) })
    using port = await openAdmin(other.services)
    const families = await port.scrape()
    const name = 'meridian_geo_download'
    assert.equal(readValue(families, `${name}_timestamp_seconds`), NOON / 1000)
    assert.equal(readValue(families, `${name}_failed_timestamp_seconds`), NOON / 1000 + 5)
    assert.equal((await admin.scrape()).has(`${name}_timestamp_seconds`), false)
  })

  it('says when a replacement database was built', async () => {
    const file = join(app.dataDir, 'Mine.mmdb')
    const write = (builtAt: number) =>
      writeFileSync(file, mmdbBytes({ '1.0.0.0/8': { country: { iso_code: 'DE' } } }, { builtAt }))
    write(NOON)
    await using other = await makeApp({ env: { MERIDIAN_GEO: file } })
    using port = await openAdmin(other.services)
    const labels = { database: 'Mine', provider: 'maxmind' }
    const measured = async () =>
      readValue(await port.scrape(), 'meridian_geo_build_timestamp_seconds', labels)
    assert.equal(await measured(), NOON / 1000)
    write(NOON + 86_400_000)
    // Some file systems keep whole seconds.
    utimesSync(file, 1, 1)
    for (let looks = 0; looks < 2; looks++) await other.services.geo.refresh()
    assert.equal(await measured(), NOON / 1000 + 86_400)
  })

  it('has the metrics that docs/operations.md lists', async () => {
    await using other = await makeApp({
      env: { STRIPE_SECRET_KEY: newSecretKey(), MERIDIAN_REPLICATED: '1' },
      replace: () => ({ downloads: NO_DOWNLOADS }),
    })
    const documented = [...OPERATIONS.matchAll(/^- `(meridian_\w+)`/gm)].map(([, name]) => name)
    const measured = listScrapedMetrics(other.services).map(({ name }) => name)
    assert.deepEqual(documented.toSorted(), measured.toSorted())
  })

  it('never contains a path as it was sent, nor a key', async () => {
    const mark = 'zqzq'
    const segment = fc.oneof(
      fc.webSegment(),
      fc.constantFrom('v1', 'ip', 'account', 'me', 'keys', 'assets', 'api', 'auth', '{ipAddress}'),
    )
    const method = fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY')
    const paths = fc.array(fc.tuple(method, fc.array(segment, { maxLength: 5 })), { maxLength: 10 })
    await fc.assert(
      fc.asyncProperty(paths, async (all) => {
        for (const [method, segments] of all) await sendRaw(method, [...segments, mark].join('/'))
      }),
      { numRuns: 40 },
    )
    const filled = operations.map(({ path }) => path.slice(1).replaceAll(/\{\w+\}/g, mark))
    for (const path of filled) await sendRaw('GET', path)
    const body = await (await admin.ask('/metrics')).text()
    assert.equal(body.includes(mark), false)
    assert.equal(body.includes(key.slice(0, 12)), false)
    const { samples = [] } = readPrometheusText(body).get(REQUESTS) ?? {}
    const routes = new Set(samples.map(({ labels }) => labels['http_route'] ?? ''))
    assert.ok(routes.size > 20)
    for (const route of routes) assert.ok(PATTERNS.has(route), route)
  })
})

const PATTERNS = new Set<string>([
  '_OTHER',
  ...operations.map(({ path }) => path),
  ...AUTH_REQUESTS.map(({ path }) => `${AUTH_BASE_PATH}${path}`),
  ...[HOME_PATH, DOCS_PATH, ROBOTS_PATH, SCRIPT_PATH, pinnedScriptPath('{hash}')],
  assetPath('{name}', '{hash}'),
])

/** Bypasses the contract check of `send`, because the method may not be in the contract. */
async function sendRaw(method: string, path: string): Promise<void> {
  const url = `http://127.0.0.1:8787/${path}`
  const request = new Request(url, { method, headers: { 'x-api-key': key } })
  await (await app.app.fetch(request, { remoteAddress: freshClient() })).text()
}
