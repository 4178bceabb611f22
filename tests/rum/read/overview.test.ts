import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { byVital } from '../../../lib/contract/telemetry/metrics.ts'
import { RumOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { HOUR_MS } from '../../../lib/parts/durations.ts'
import { readValue, write } from '../../support/database/sql.ts'
import { codeOf, NOON } from '../../support/helpers.ts'
import { sharedScene } from '../../support/scene/scene.ts'

const ORIGIN = 'https://shop.example'
const PATH = '/v1/telemetry/rum/overview?domain=shop.example'
const BRITISH = '81.2.69.160'
const NOWHERE = '198.51.100.7'

let now = NOON
const app = sharedScene({ now: () => now }, async () => {
  await ada.key()
  await ada.site(ORIGIN)
})
const ada = app.user('ada')
const eve = app.user('eve')

async function post(body: unknown, from = NOWHERE, agent = 'Mozilla/5.0'): Promise<void> {
  const headers = { origin: ORIGIN, 'user-agent': agent }
  const { status } = await app.send('POST', '/v1/telemetry/rum', { body, headers, from })
  assert.equal(status, 204)
}

async function overview(query = '') {
  const { status, body } = await ada.send('GET', `${PATH}${query}`)
  assert.equal(status, 200)
  return v.parse(RumOverview, body)
}

const none = byVital(() => null)

describe('GET /v1/telemetry/rum/overview', () => {
  it('answers an empty overview if nothing was sent', async () => {
    const { sampleCount, metrics, devices, beacons } = await overview()
    assert.equal(sampleCount, 0)
    const none = { p50: null, p75: null, p95: null, p75Range: null }
    const unrated = { sampleCount: 0, ...none, ratings: null }
    assert.deepEqual(metrics.lcp, unrated)
    assert.deepEqual(devices, [])
    const counts = { accepted: 0, bots: 0, refused: 0, droppedValues: 0, lastHour: null }
    assert.deepEqual(beacons, counts)
  })

  it('merges hours, days, devices and countries by their values', async () => {
    // Whole days hold all beacons of the period but the last, which comes after them.
    const lcp = [100, 2_600, 4_100, 200, 300]
    for (const [at, value] of lcp.entries()) {
      now = NOON - (4 - at) * 15 * HOUR_MS
      const deviceType = at < 2 ? 'desktop' : 'mobile'
      const path = `/product/${at}#top`
      const from = at === 0 ? BRITISH : NOWHERE
      await post({ path, deviceType, connectionType: '4G', metrics: { lcp: value, dns: 5 } }, from)
    }
    const found = await overview()
    assert.equal(found.sampleCount, 5)
    const ratings = { good: 0.6, needsImprovement: 0.2, poor: 0.2 }
    const p75Range = { low: 231.35083, high: 4100 }
    const lcps = { p50: 300, p75: 2975, p95: 4100, p75Range }
    assert.deepEqual(found.metrics.lcp, { sampleCount: 5, ...lcps, ratings })
    const five = { p50: 5, p75: 5, p95: 5, p75Range: { low: 5, high: 5 } }
    const dns = { sampleCount: 5, ...five, ratings: null }
    assert.deepEqual(found.metrics.dns, dns)
    assert.deepEqual(found.devices, [
      { deviceType: 'mobile', sampleCount: 3, p75: { ...none, lcp: 3150 } },
      { deviceType: 'desktop', sampleCount: 2, p75: { ...none, lcp: 2600 } },
    ])
    assert.deepEqual(found.countries, [
      { country: null, sampleCount: 4, p75: { ...none, lcp: 3350 } },
      { country: 'GB', sampleCount: 1, p75: { ...none, lcp: 100 } },
    ])
    assert.deepEqual(found.paths, [
      { path: '/product/*', sampleCount: 5, p75: { ...none, lcp: 2975 } },
    ])
    assert.deepEqual(found.connections, [{ connectionType: '4g', count: 5 }])
  })

  it('filters by device, country and period', async () => {
    assert.equal((await overview('&device=desktop')).sampleCount, 2)
    assert.equal((await overview('&country=GB')).sampleCount, 1)
    assert.equal((await overview('&country=GB&device=mobile')).sampleCount, 0)
    assert.equal((await overview('&from=2026-01-14T00&to=2026-01-14T23')).sampleCount, 2)
    assert.equal((await overview('&from=2026-01-14T00&to=2026-01-15T11')).sampleCount, 2)
    assert.equal((await overview('&from=2026-01-14T22&to=2026-01-15T12')).sampleCount, 1)
  })

  it('filters by page, in whole days', async () => {
    now = NOON
    await post({ path: '/cart', deviceType: 'mobile', metrics: { lcp: 800, dns: 3 } }, BRITISH)
    const path = '&path=/product/*'
    const found = await overview(`${path}&series=day`)
    assert.equal(found.sampleCount, 5)
    assert.equal(found.metrics.lcp.p75, 2975)
    assert.equal(found.metrics.dns.sampleCount, 5)
    assert.deepEqual(found.paths, [
      { path: '/product/*', sampleCount: 5, p75: { ...none, lcp: 2975 } },
    ])
    assert.deepEqual(
      found.series?.map(({ from, sampleCount }) => [from, sampleCount]),
      [
        ['2026-01-13T00', 2],
        ['2026-01-14T00', 2],
        ['2026-01-15T00', 1],
      ],
    )
    assert.equal((await overview(`${path}&from=2026-01-15T00&to=2026-01-15T12`)).sampleCount, 1)
    const { sampleCount, paths } = await overview('&path=/no-such-page')
    assert.deepEqual([sampleCount, paths], [0, []])
    for (const other of ['country=GB', 'series=hour']) {
      assert.equal((await ada.send('GET', `${PATH}${path}&${other}`)).status, 400, other)
    }
  })

  it('counts pages by kind of device', async () => {
    const mobile = await overview('&device=mobile')
    assert.deepEqual(
      mobile.paths.map(({ path, sampleCount }) => [path, sampleCount]),
      [
        ['/product/*', 3],
        ['/cart', 1],
      ],
    )
    const page = await overview('&device=mobile&path=/product/*')
    assert.equal(page.metrics.lcp.p75, mobile.paths[0]?.p75.lcp)
    const { devices, countries } = await overview('&path=/product/*')
    assert.deepEqual(
      devices.map(({ deviceType, sampleCount }) => [deviceType, sampleCount]),
      [
        ['mobile', 3],
        ['desktop', 2],
      ],
    )
    assert.deepEqual(
      countries.map(({ country }) => country),
      [null],
    )
  })

  it('has the pages that an earlier release has counted over all devices', async () => {
    const sql = `INSERT INTO rum_paths (site_id, day, path, samples, sketches)
      SELECT site_id, day, path, samples, sketches FROM rum_pages WHERE path = '/cart'`
    await app.services.db.execute({ sql, params: [] })
    const { devices, paths } = await overview('&path=/cart')
    assert.deepEqual(
      devices.map(({ deviceType, sampleCount }) => [deviceType, sampleCount]),
      [
        [null, 1],
        ['mobile', 1],
      ],
    )
    assert.equal(paths[0]?.sampleCount, 2)
    assert.equal((await overview('&path=/cart&device=mobile')).sampleCount, 1)
    assert.equal((await overview()).paths.find(({ path }) => path === '/cart')?.sampleCount, 2)
  })

  it('groups errors that differ only in numbers, and drops queries', async () => {
    const source = `${ORIGIN}/app.js?token=secret`
    for (const [at, id] of [4, 17].entries()) {
      now = NOON + at * HOUR_MS
      const thrown = { type: 'TypeError', source, line: 3, stack: 'x'.repeat(1500) }
      const error = { message: `no item ${id}`, ...thrown }
      await post({ path: `/cart/${id}`, errors: [error, error] })
    }
    await post({ errors: [{ message: 'another' }] })
    const { errors } = await overview()
    const [first, second] = errors
    assert.equal(errors.length, 2)
    assert.deepEqual(first, {
      message: 'no item 4',
      type: 'TypeError',
      source: `${ORIGIN}/app.js`,
      line: 3,
      stack: 'x'.repeat(1000),
      path: '/cart/*',
      count: 4,
      firstSeenAt: new Date(NOON).toISOString(),
      lastSeenAt: new Date(NOON + HOUR_MS).toISOString(),
    })
    assert.deepEqual(second?.message, 'another')
  })

  it('says what slow views have in common, by page and kind of device', async () => {
    const before = (await overview('&from=2026-01-15T00')).attribution
    assert.deepEqual(before.lcp, { count: 0, top: [] })
    const lcp = { '#hero': [3_000, 4_000], 'h1.big': [1_000, 5_000, 1_200] }
    for (const [name, values] of Object.entries(lcp)) {
      for (const value of values) {
        const deviceType = value > 3_500 ? 'mobile' : 'desktop'
        await post({
          path: `/${name.slice(1, 3)}`,
          deviceType,
          metrics: { lcp: value },
          attribution: { lcp: name },
        })
      }
    }
    const phases = { inp: 'button', inpPhase: 'processing' }
    await post({ metrics: { inp: 300 }, attribution: phases })
    await post({
      metrics: { inp: 200 },
      attribution: { ...phases, inpPhase: 'unheard-of', lcp: 'p' },
    })
    const { attribution } = await overview('&from=2026-01-15T00')
    assert.deepEqual(attribution, {
      lcp: {
        count: 3,
        top: [
          { name: '#hero', count: 2 },
          { name: 'h1.big', count: 1 },
        ],
      },
      inp: { count: 1, top: [{ name: 'button', count: 1 }] },
      inpPhase: { count: 1, top: [{ name: 'processing', count: 1 }] },
      cls: { count: 0, top: [] },
    })
    const mobile = (await overview('&from=2026-01-15T00&device=mobile')).attribution
    assert.deepEqual(mobile.lcp.top, [
      { name: '#hero', count: 1 },
      { name: 'h1.big', count: 1 },
    ])
    const page = (await overview('&from=2026-01-15T00&path=/1.')).attribution
    assert.deepEqual(page.lcp.top, [{ name: 'h1.big', count: 1 }])
  })

  it('passes over causes that a newer release has written', async () => {
    const sql =
      'INSERT INTO rum_attribution (site_id, day, label, count) SELECT id, ?, ?, 1 FROM sites'
    const label = JSON.stringify(['lcpPhase', 'mobile', '/', 'load-delay', 'more'])
    const { attribution } = await overview('&from=2026-01-15T00')
    await write(app, sql, Math.floor(NOON / (24 * HOUR_MS)), label)
    assert.deepEqual((await overview('&from=2026-01-15T00')).attribution, attribution)
  })

  it('counts bots and dropped values', async () => {
    const { beacons: before } = await overview()
    await post({ metrics: { lcp: 1 } }, BRITISH, 'Mozilla/5.0 (X11) HeadlessChrome/140.0')
    await post({ metrics: { lcp: 700_000, cls: -1, ttfb: 5 } })
    const { beacons } = await overview()
    assert.equal(beacons.bots, before.bots + 1)
    assert.equal(beacons.droppedValues, before.droppedValues + 2)
    assert.equal(beacons.accepted, before.accepted + 1)
    assert.equal(beacons.lastHour, '2026-01-15T13')
  })

  it('adds up the errors of several days, with the first one as sample', async () => {
    for (const [at, line] of [7, 8, 9].entries()) {
      now = NOON - (5 - at) * 24 * HOUR_MS
      await post({ errors: [{ message: `part ${line}`, line: 1 }] })
    }
    const { errors } = await overview('&from=2026-01-11T00&to=2026-01-12T23')
    assert.deepEqual(errors, [
      {
        message: 'part 8',
        line: 1,
        count: 2,
        firstSeenAt: '2026-01-11T12:00:00.000Z',
        lastSeenAt: '2026-01-12T12:00:00.000Z',
      },
    ])
  })

  it('keeps at most 500 pages and 200 kinds of errors per day', async () => {
    now = NOON - 6 * 24 * HOUR_MS
    const errors = (n: number) =>
      Array.from({ length: 5 }, (_, at) => ({ message: 'e'.repeat(1 + n) + 'f'.repeat(at) }))
    for (let n = 0; n < 520; n++) {
      const thrown = n < 50 && { errors: errors(n) }
      await post({ path: `/page-${n}`, metrics: { ttfb: 9 }, ...thrown }, `203.0.113.${n & 127}`)
    }
    now += HOUR_MS
    await post({ errors: [{ message: 'of the next hour' }] })
    const period = '&from=2026-01-09T00&to=2026-01-09T23'
    const { paths, errors: groups, sampleCount } = await overview(period)
    assert.equal(sampleCount, 520)
    assert.deepEqual(paths[0], { path: '(other)', sampleCount: 20, p75: { ...none, ttfb: 9 } })
    assert.ok(groups.some(({ message }) => message === '(other errors)'))
    const largest = (table: string, span: string) =>
      readValue(app, `SELECT count(*) FROM ${table} GROUP BY site_id, ${span} ORDER BY 1 DESC`)
    assert.equal(await largest('rum_pages', 'day'), 501)
    assert.equal(await largest('rum_errors', 'hour'), 201)
    assert.equal(await largest('rum_error_samples', 'day'), 201)
  })

  it('answers 404 for a site of another user', async () => {
    await eve.key()
    assert.equal(codeOf(await eve.send('GET', PATH)), 'NOT_FOUND')
  })
})
