import * as v from 'valibot'
import { Count, strictObject, Timestamp, textUpTo } from '../common.ts'
import { AttributionTotals } from './attribution.ts'
import { byMetric, byVital } from './metrics.ts'
import { Hour, HourPeriod, Percentile, PercentileSet, SummaryQuery } from './telemetry-schemas.ts'

const Share = v.pipe(v.number(), v.minValue(0), v.maxValue(1))

const MetricOverview = v.strictObject({
  ...PercentileSet.entries,
  sampleCount: Count,
  ratings: v.pipe(
    v.nullable(v.strictObject({ good: Share, needsImprovement: Share, poor: Share })),
    v.description('Shares of the values; null if there are no values or no thresholds'),
  ),
})
export type MetricOverview = v.InferOutput<typeof MetricOverview>

const BeaconCount = v.pipe(Count, v.description('Beacons with at least one metric'))
const P75 = v.pipe(v.strictObject(byVital(() => Percentile)), v.description('75th percentiles'))
const group = { sampleCount: Count, p75: P75 }

const ErrorGroup = v.strictObject({
  message: v.string(),
  type: v.optional(v.string()),
  source: v.optional(v.string()),
  line: v.optional(v.number()),
  column: v.optional(v.number()),
  stack: v.optional(v.string()),
  path: v.pipe(v.optional(v.string()), v.description('The page of the first error')),
  count: Count,
  firstSeenAt: Timestamp,
  lastSeenAt: Timestamp,
})

const SERIES_STEPS = ['hour', 'day'] as const
export type SeriesStep = (typeof SERIES_STEPS)[number]

export const OverviewQuery = v.object({
  ...SummaryQuery.entries,
  series: v.optional(
    v.pipe(
      v.picklist(SERIES_STEPS),
      v.description('Adds the vitals by hour, for at most seven days, or by day'),
    ),
  ),
  path: v.optional(
    v.pipe(
      textUpTo(500),
      v.minLength(1),
      v.description(
        'Only this page, as `paths` names it, by whole days; not with `country` or `series=hour`',
      ),
      v.examples(['/checkout']),
    ),
  ),
})
export type OverviewQuery = v.InferOutput<typeof OverviewQuery>

const VitalPoint = v.strictObject({ ...PercentileSet.entries, sampleCount: Count })

const SeriesPoint = v.strictObject({
  from: v.pipe(Hour, v.description('The hour, or the first hour of the day')),
  sampleCount: BeaconCount,
  ...byVital(() => VitalPoint),
})
export type SeriesPoint = v.InferOutput<typeof SeriesPoint>

export const RumOverview = strictObject('A site over a period', {
  domain: v.string(),
  period: HourPeriod,
  sampleCount: BeaconCount,
  metrics: v.strictObject(byMetric(() => MetricOverview)),
  devices: v.array(v.strictObject({ deviceType: v.nullable(v.string()), ...group })),
  countries: v.array(v.strictObject({ country: v.nullable(v.string()), ...group })),
  paths: v.pipe(
    v.array(v.strictObject({ path: v.string(), ...group })),
    v.description('The 20 with the most samples; * replaces ids'),
  ),
  attribution: AttributionTotals,
  connections: v.array(v.strictObject({ connectionType: v.string(), count: Count })),
  errors: v.pipe(v.array(ErrorGroup), v.description('The 20 most frequent kinds')),
  series: v.pipe(
    v.optional(v.array(SeriesPoint)),
    v.description('If requested: each hour or day with a metric, oldest first'),
  ),
  beacons: strictObject('The beacons of the period, by outcome', {
    accepted: Count,
    bots: v.pipe(Count, v.description('Not stored, because the user agent names a bot')),
    refused: v.pipe(Count, v.description('Not stored, because too many came at once')),
    droppedValues: v.pipe(Count, v.description('Metrics that were out of range')),
    lastHour: v.pipe(v.nullable(Hour), v.description('The last hour with an accepted beacon')),
  }),
})
export type RumOverview = v.InferOutput<typeof RumOverview>
