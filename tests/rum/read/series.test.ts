import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { RumOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { HOUR_MS } from '../../../lib/parts/durations.ts'
import { formatHour } from '../../../lib/rum/hour.ts'
import { codeOf, NOON } from '../../support/helpers.ts'
import { sharedScene } from '../../support/scene/scene.ts'
import { CONTINUOUS, draw, exact } from '../rum-values.ts'

const ORIGIN = 'https://shop.example'
const NOON_HOUR = NOON / HOUR_MS
const BRITISH = '81.2.69.160'
const NOWHERE = '198.51.100.7'
/** When beacons are sent, as hours before noon: on three days, with a gap. */
const HOURS = [49, 48, 30, 2, 1, 0]

interface Sent {
  readonly hour: number
  readonly device: 'mobile' | 'desktop'
  readonly lcp: number
}

let now = NOON
const sent: Sent[] = []
const app = sharedScene({ now: () => now }, async () => {
  await ada.key()
  await ada.site(ORIGIN)
  const values = draw(CONTINUOUS['lognormal'] ?? (() => 0), HOURS.length * 20)
  for (const [at, value] of values.entries()) {
    const hour = NOON_HOUR - (HOURS[at % HOURS.length] ?? 0)
    now = hour * HOUR_MS
    const deviceType = at % 7 < 4 ? 'mobile' : 'desktop'
    const metrics = { lcp: value / 100, ...(at % 2 === 0 && { cls: 0.01 }) }
    const from = at % 3 === 0 ? BRITISH : NOWHERE
    const headers = { origin: ORIGIN, 'user-agent': 'Mozilla/5.0' }
    const body = { deviceType, metrics }
    const { status } = await app.send('POST', '/v1/telemetry/rum', { body, headers, from })
    assert.equal(status, 204)
    sent.push({ hour, device: deviceType, lcp: value })
  }
  now = NOON
})
const ada = app.user('ada')

const ask = (query: string) =>
  ada.send('GET', `/v1/telemetry/rum/overview?domain=shop.example${query}`)

async function series(query: string) {
  return v.parse(RumOverview, (await ask(query)).body).series ?? []
}

/** The first hour of each step, with the values that were sent in it. */
function groups(stepHours: number, values: readonly Sent[] = sent): [string, number[]][] {
  const found = Map.groupBy(values, ({ hour }) => hour - (hour % stepHours))
  return [...found]
    .toSorted(([a], [b]) => a - b)
    .map(([hour, of]) => [formatHour(hour), of.map(({ lcp }) => lcp)])
}

function assertExact(points: Awaited<ReturnType<typeof series>>, wanted: [string, number[]][]) {
  const steps = points.map(({ from }) => from)
  assert.deepEqual(steps, [...new Map(wanted).keys()])
  for (const [at, { sampleCount, lcp }] of points.entries()) {
    const values = wanted[at]?.[1] ?? []
    assert.equal(sampleCount, values.length)
    assert.equal(lcp.sampleCount, values.length)
    for (const [index, percentile] of exact(values).entries()) {
      const actual = [lcp.p50, lcp.p75, lcp.p95][index] ?? Number.NaN
      assert.ok(Math.abs(actual - percentile / 100) < 0.001, `${actual}, not ${percentile / 100}`)
    }
  }
}

describe('the series of GET /v1/telemetry/rum/overview', () => {
  it('is absent unless requested', async () => {
    assert.equal(v.parse(RumOverview, (await ask('')).body).series, undefined)
  })

  it('has the percentiles of each hour with values, and no other hours', async () => {
    assertExact(await series('&series=hour'), groups(1))
  })

  it('has the percentiles of each day, from its hours in the period', async () => {
    assertExact(await series('&series=day'), groups(24))
    const from = NOON_HOUR - 48
    const some = sent.filter(({ hour }) => hour >= from && hour < NOON_HOUR)
    const period = `&from=${formatHour(from)}&to=${formatHour(NOON_HOUR - 1)}`
    assertExact(await series(`&series=day${period}`), groups(24, some))
  })

  it('counts the values of each metric', async () => {
    const [first] = await series('&series=day')
    const { cls, inp } = first ?? assert.fail()
    assert.deepEqual(inp, { p50: null, p75: null, p95: null, sampleCount: 0 })
    assert.deepEqual([cls.p50, cls.p75, cls.p95], [0.01, 0.01, 0.01])
    assert.ok(cls.sampleCount > 0)
  })

  it('respects the filters', async () => {
    const mobile = sent.filter(({ device }) => device === 'mobile')
    assertExact(await series('&series=hour&device=mobile'), groups(1, mobile))
    assert.deepEqual(await series('&series=day&country=FR'), [])
  })

  it('does not change the rest of the overview', async () => {
    const { series: _, ...hourly } = v.parse(RumOverview, (await ask('&series=hour')).body)
    assert.deepEqual(hourly, (await ask('')).body)
  })

  it('covers at most seven days if its steps are hours', async () => {
    const answer = await ask('&series=hour&from=2026-01-08T11&to=2026-01-15T12')
    assert.equal(answer.status, 400)
    assert.equal(codeOf(answer), 'BAD_REQUEST')
    assert.equal((await ask('&series=hour&from=2026-01-08T12&to=2026-01-15T12')).status, 200)
    assert.equal((await ask('&series=week')).status, 400)
  })
})
