import { type Operation, ok } from '../operation.ts'
import { byCause } from './attribution.ts'
import { byMetric, byVital, isVital, type Metric, ruleOf } from './metrics.ts'
import { type MetricOverview, OverviewQuery, RumOverview } from './telemetry-overview.ts'
import {
  BEACON_MAX_BYTES,
  Beacon,
  type PercentileSet,
  RumSummary,
  SummaryQuery,
} from './telemetry-schemas.ts'

/** Example percentiles of a good site, which has no values of the legacy FID. */
function exampleOf(metric: Metric): PercentileSet {
  const { good = 100, isLegacy } = ruleOf(metric)
  if (isLegacy) return { p50: null, p75: null, p95: null }
  return { p50: good / 2, p75: good * 0.8, p95: good }
}

/** p75 of as few values as `exampleCount` may be nearly any of them. */
function exampleRange(metric: Metric): MetricOverview['p75Range'] {
  const { p50, p95 } = exampleOf(metric)
  return p50 === null || p95 === null ? null : { low: p50, high: p95 }
}

function exampleCount(metric: Metric): number {
  return ruleOf(metric).isLegacy ? 0 : 12
}

const period = { from: '2026-01-08T12', to: '2026-01-15T12' }
const group = { sampleCount: 12, p75: byVital((vital) => exampleOf(vital).p75) }

const summaryExample = {
  domain: 'shop.example',
  period,
  metrics: [
    {
      hour: '2026-01-15T11',
      country: 'GB',
      deviceType: 'mobile',
      sampleCount: 12,
      ...byVital(exampleOf),
    },
  ],
} as const satisfies RumSummary

const overviewExample = {
  domain: 'shop.example',
  period,
  sampleCount: 12,
  metrics: byMetric((metric) => ({
    sampleCount: exampleCount(metric),
    ...exampleOf(metric),
    p75Range: exampleRange(metric),
    ratings:
      isVital(metric) && exampleCount(metric) > 0
        ? { good: 0.9167, needsImprovement: 0.0833, poor: 0 }
        : null,
  })),
  devices: [{ deviceType: 'mobile', ...group }],
  countries: [{ country: 'GB', ...group }],
  paths: [{ path: '/product/*', ...group }],
  attribution: byCause((cause) => {
    const name = cause === 'inpPhase' ? 'processing' : 'img.hero'
    return { count: 1, top: [{ name, count: 1 }] }
  }),
  connections: [{ connectionType: '4g', count: 12 }],
  errors: [
    {
      message: 'x is undefined',
      type: 'TypeError',
      source: 'https://shop.example/app.js',
      line: 12,
      path: '/product/*',
      count: 3,
      firstSeenAt: '2026-01-15T11:02:03.000Z',
      lastSeenAt: '2026-01-15T11:40:00.000Z',
    },
  ],
  series: [
    {
      from: '2026-01-15T11',
      sampleCount: 12,
      ...byVital((vital) => ({ sampleCount: exampleCount(vital), ...exampleOf(vital) })),
    },
  ],
  beacons: { accepted: 14, bots: 2, refused: 0, droppedValues: 0, lastHour: '2026-01-15T11' },
} as const satisfies RumOverview

const read = { tag: 'Telemetry', access: 'account:read', limit: 'plan' } as const

export const telemetryOperations = [
  {
    id: 'sendBeacon',
    method: 'post',
    path: '/v1/telemetry/rum',
    tag: 'Telemetry',
    summary: 'Report what a page measured',
    description:
      'If there is a Referer, it must agree with Origin. The body is read as JSON whatever its Content-Type, so that browsers can send text/plain without a preflight.',
    access: 'public',
    limit: 'beacon',
    headers: {
      Origin: {
        description: 'The origin of a registered site; browsers set it',
        example: 'https://shop.example',
      },
    },
    body: {
      schema: Beacon,
      example: {
        path: '/checkout',
        deviceType: 'mobile',
        connectionType: '4g',
        metrics: { lcp: 1840, inp: 96, cls: 0.02, ttfb: 210 },
        attribution: { lcp: 'main>img.hero', inp: '#buy', inpPhase: 'processing', cls: 'div.ad' },
      },
      maxBytes: BEACON_MAX_BYTES,
    },
    replies: { 204: { description: 'Stored or from a bot', schema: null } },
    errors: ['ORIGIN_NOT_ALLOWED', 'SERVICE_UNAVAILABLE'],
  },
  {
    id: 'getRumSummary',
    method: 'get',
    path: '/v1/telemetry/rum/summary',
    ...read,
    summary: 'Web Vitals of a site by hour',
    description:
      'Rows are sorted by hour, country and device. A period spans at most 92 days, because older data is deleted.',
    query: SummaryQuery,
    replies: ok('The summary', RumSummary, summaryExample),
    errors: ['NOT_FOUND'],
  },
  {
    id: 'getRumOverview',
    method: 'get',
    path: '/v1/telemetry/rum/overview',
    ...read,
    summary: 'Web Vitals of a site over a period',
    description:
      'Percentiles are computed from all values of the period; devices and countries come largest first. Errors, connections and beacons ignore the filters by device and country; paths and attribution ignore that by country, and cover whole days. With `path`, the countries are unknown. `series` adds the vitals of each hour or day, after the filters.',
    query: OverviewQuery,
    replies: ok('The overview', RumOverview, overviewExample),
    errors: ['NOT_FOUND'],
  },
] as const satisfies readonly Operation[]
