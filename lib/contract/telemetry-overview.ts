import * as v from 'valibot'
import { Timestamp } from './common.ts'
import { Hour, PercentileSet, SummaryQuery } from './telemetry-schemas.ts'

const Count = v.pipe(v.number(), v.integer(), v.minValue(0))
const Share = v.pipe(v.number(), v.minValue(0), v.maxValue(1))

const MetricOverview = v.strictObject({
  ...PercentileSet.entries,
  sampleCount: Count,
  ratings: v.pipe(
    v.nullable(v.strictObject({ good: Share, needsImprovement: Share, poor: Share })),
    v.description('Shares of the values; null where there are none, or no thresholds'),
  ),
})
export type MetricOverview = v.InferOutput<typeof MetricOverview>

const P75 = v.pipe(
  v.strictObject({
    lcp: v.nullable(v.number()),
    inp: v.nullable(v.number()),
    cls: v.nullable(v.number()),
    ttfb: v.nullable(v.number()),
    fid: v.nullable(v.number()),
  }),
  v.description('75th percentiles'),
)

const ErrorGroup = v.strictObject({
  message: v.string(),
  type: v.optional(v.string()),
  source: v.optional(v.string()),
  line: v.optional(v.number()),
  column: v.optional(v.number()),
  stack: v.optional(v.string()),
  path: v.pipe(v.optional(v.string()), v.description('The page of the first one')),
  count: Count,
  firstSeenAt: Timestamp,
  lastSeenAt: Timestamp,
})

export const SERIES_STEPS = ['hour', 'day'] as const
export type SeriesStep = (typeof SERIES_STEPS)[number]

export const OverviewQuery = v.object({
  ...SummaryQuery.entries,
  series: v.optional(
    v.pipe(
      v.picklist(SERIES_STEPS),
      v.description('Adds the vitals by hour, of at most seven days, or by day'),
    ),
  ),
})
export type OverviewQuery = v.InferOutput<typeof OverviewQuery>

const VitalPoint = v.strictObject({ ...PercentileSet.entries, sampleCount: Count })

const SeriesPoint = v.strictObject({
  from: v.pipe(Hour, v.description('The hour, or the first one of the day')),
  sampleCount: v.pipe(Count, v.description('Beacons with at least one metric')),
  lcp: VitalPoint,
  inp: VitalPoint,
  cls: VitalPoint,
  ttfb: VitalPoint,
  fid: VitalPoint,
})
export type SeriesPoint = v.InferOutput<typeof SeriesPoint>

export const RumOverview = v.pipe(
  v.strictObject({
    domain: v.string(),
    period: v.strictObject({ from: Hour, to: Hour }),
    sampleCount: v.pipe(Count, v.description('Beacons with at least one metric')),
    metrics: v.strictObject({
      lcp: MetricOverview,
      inp: MetricOverview,
      cls: MetricOverview,
      ttfb: MetricOverview,
      fid: MetricOverview,
      dns: MetricOverview,
      tls: MetricOverview,
      request: MetricOverview,
      response: MetricOverview,
    }),
    devices: v.array(
      v.strictObject({ deviceType: v.nullable(v.string()), sampleCount: Count, p75: P75 }),
    ),
    countries: v.array(
      v.strictObject({ country: v.nullable(v.string()), sampleCount: Count, p75: P75 }),
    ),
    paths: v.pipe(
      v.array(v.strictObject({ path: v.string(), sampleCount: Count, p75: P75 })),
      v.description('The 20 with the most samples, ids in them as *'),
    ),
    connections: v.array(v.strictObject({ connectionType: v.string(), count: Count })),
    errors: v.pipe(v.array(ErrorGroup), v.description('The 20 kinds that came most often')),
    series: v.pipe(
      v.optional(v.array(SeriesPoint)),
      v.description('Where it is asked for: each hour or day that has beacons, oldest first'),
    ),
    beacons: v.pipe(
      v.strictObject({
        accepted: Count,
        bots: v.pipe(Count, v.description('Not stored, since a bot says to be one')),
        refused: v.pipe(Count, v.description('Not stored, since too many came at once')),
        droppedValues: v.pipe(Count, v.description('Metrics that were out of range')),
        lastHour: v.pipe(v.nullable(Hour), v.description('The last hour with a beacon')),
      }),
      v.description('What arrived'),
    ),
  }),
  v.description('A period of a site as one'),
)
export type RumOverview = v.InferOutput<typeof RumOverview>
