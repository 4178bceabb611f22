import type { Operation } from './operation.ts'
import { OverviewQuery, RumOverview } from './telemetry-overview.ts'
import {
  BEACON_MAX_BYTES,
  Beacon,
  type PercentileSet,
  RumSummary,
  SummaryQuery,
} from './telemetry-schemas.ts'

const nothing = { p50: null, p75: null, p95: null } as const satisfies PercentileSet

const time = { sampleCount: 12, p50: 31, p75: 44, p95: 120, ratings: null }
const p75 = { lcp: 1840, inp: 96, cls: 0.02, ttfb: 210, fid: null }

const overviewExample = {
  domain: 'shop.example',
  period: { from: '2026-01-08T12', to: '2026-01-15T12' },
  sampleCount: 12,
  metrics: {
    lcp: {
      sampleCount: 12,
      p50: 1620,
      p75: 1840,
      p95: 2950,
      ratings: { good: 0.9167, needsImprovement: 0.0833, poor: 0 },
    },
    inp: {
      sampleCount: 9,
      p50: 72,
      p75: 96,
      p95: 184,
      ratings: { good: 1, needsImprovement: 0, poor: 0 },
    },
    cls: {
      sampleCount: 12,
      p50: 0.01,
      p75: 0.02,
      p95: 0.11,
      ratings: { good: 0.9167, needsImprovement: 0.0833, poor: 0 },
    },
    ttfb: {
      sampleCount: 12,
      p50: 180,
      p75: 210,
      p95: 460,
      ratings: { good: 1, needsImprovement: 0, poor: 0 },
    },
    fid: { sampleCount: 0, ...nothing, ratings: null },
    dns: time,
    tls: time,
    request: time,
    response: time,
  },
  devices: [{ deviceType: 'mobile', sampleCount: 12, p75 }],
  countries: [{ country: 'GB', sampleCount: 12, p75 }],
  paths: [{ path: '/product/*', sampleCount: 12, p75 }],
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
      lcp: { sampleCount: 12, p50: 1620, p75: 1840, p95: 2950 },
      inp: { sampleCount: 9, p50: 72, p75: 96, p95: 184 },
      cls: { sampleCount: 12, p50: 0.01, p75: 0.02, p95: 0.11 },
      ttfb: { sampleCount: 12, p50: 180, p75: 210, p95: 460 },
      fid: { sampleCount: 0, ...nothing },
    },
  ],
  beacons: { accepted: 14, bots: 2, refused: 0, droppedValues: 0, lastHour: '2026-01-15T11' },
} as const satisfies RumOverview

export const telemetryOperations = [
  {
    id: 'sendBeacon',
    method: 'post',
    path: '/v1/telemetry/rum',
    tag: 'Telemetry',
    summary: 'Report what a page measured',
    description:
      'Referer, where there is one, must agree with Origin. Any Content-Type is read as JSON, so that text/plain needs no preflight.',
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
      },
      maxBytes: BEACON_MAX_BYTES,
    },
    replies: { 204: { description: 'The beacon is stored', schema: null } },
    errors: ['ORIGIN_NOT_ALLOWED', 'SERVICE_UNAVAILABLE'],
  },
  {
    id: 'getRumSummary',
    method: 'get',
    path: '/v1/telemetry/rum/summary',
    tag: 'Telemetry',
    summary: 'Web Vitals of a site by hour',
    description:
      'Rows come in the order of hour, country and device. A period spans at most 92 days.',
    access: 'account:read',
    limit: 'plan',
    query: SummaryQuery,
    replies: {
      200: {
        description: 'The summary',
        schema: RumSummary,
        example: {
          domain: 'shop.example',
          period: { from: '2026-01-08T12', to: '2026-01-15T12' },
          metrics: [
            {
              hour: '2026-01-15T11',
              country: 'GB',
              deviceType: 'mobile',
              sampleCount: 12,
              lcp: { p50: 1620, p75: 1840, p95: 2950 },
              inp: { p50: 72, p75: 96, p95: 184 },
              cls: { p50: 0.01, p75: 0.02, p95: 0.11 },
              ttfb: { p50: 180, p75: 210, p95: 460 },
              fid: nothing,
            },
          ],
        },
      },
    },
    errors: ['NOT_FOUND'],
  },
  {
    id: 'getRumOverview',
    method: 'get',
    path: '/v1/telemetry/rum/overview',
    tag: 'Telemetry',
    summary: 'Web Vitals of a site over a period',
    description:
      'Percentiles are those of all values of the period, by device and country too, the largest first. Paths, errors, connections and beacons are those of all devices and countries; paths those of whole days. `series` adds the vitals of each hour or day, of all that the filters leave as one.',
    access: 'account:read',
    limit: 'plan',
    query: OverviewQuery,
    replies: {
      200: { description: 'The overview', schema: RumOverview, example: overviewExample },
    },
    errors: ['NOT_FOUND'],
  },
] as const satisfies readonly Operation[]
