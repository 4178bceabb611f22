import * as v from 'valibot'
import { count, strictObject, Timestamp, text, textUpTo } from '../common.ts'
import { AttributionTotals } from './attribution.ts'
import { byMetric, byVital } from './metrics.ts'
import {
  Country,
  Device,
  Domain,
  Hour,
  HourPeriod,
  PercentileSet,
  SummaryQuery,
} from './telemetry-schemas.ts'

const share = (rating: string) =>
  v.pipe(v.number(), v.minValue(0), v.maxValue(1), v.description(`Share of ${rating} values`))

const Samples = count('Values of the metric')

const MetricOverview = strictObject('Milliseconds, or no unit for cls', {
  ...PercentileSet.entries,
  p75Range: v.pipe(
    v.nullable(
      v.strictObject({
        low: v.pipe(v.number(), v.description('Its lower limit')),
        high: v.pipe(v.number(), v.description('Its upper limit')),
      }),
    ),
    v.description('95 % confidence interval of p75, for any distribution; null: no values'),
  ),
  sampleCount: Samples,
  ratings: v.pipe(
    v.nullable(
      v.strictObject({
        good: share('good'),
        needsImprovement: share('middling'),
        poor: share('poor'),
      }),
    ),
    v.description('Shares of the values; null if there are no values or no thresholds'),
  ),
})
export type MetricOverview = v.InferOutput<typeof MetricOverview>

const BeaconCount = count('Beacons with at least one metric')
const P75 = v.pipe(
  v.strictObject(byVital(() => PercentileSet.entries.p75)),
  v.description('75th percentiles'),
)
const group = { sampleCount: BeaconCount, p75: P75 }

const ErrorGroup = v.strictObject({
  message: text('Its first 200 characters'),
  type: v.optional(text('The name of the error, such as TypeError')),
  source: v.optional(text('The URL of the script')),
  line: v.optional(v.pipe(v.number(), v.description('The line in the script'))),
  column: v.optional(v.pipe(v.number(), v.description('The column in that line'))),
  stack: v.optional(
    text('Of the first error on the first day with one, its first 1000 characters'),
  ),
  path: v.optional(text('The page of that error')),
  count: count('How often it came in the period'),
  firstSeenAt: v.pipe(Timestamp, v.description('When it first came in the period')),
  lastSeenAt: v.pipe(Timestamp, v.description('When it last came in the period')),
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

const VitalPoint = strictObject('Milliseconds, or no unit for cls', {
  ...PercentileSet.entries,
  sampleCount: Samples,
})
export type VitalPoint = v.InferOutput<typeof VitalPoint>

const SeriesPoint = v.strictObject({
  from: v.pipe(Hour, v.description('The hour, or the first hour of the day')),
  sampleCount: BeaconCount,
  ...byVital(() => VitalPoint),
})
export type SeriesPoint = v.InferOutput<typeof SeriesPoint>

export const RumOverview = strictObject('A site over a period', {
  domain: Domain,
  period: HourPeriod,
  sampleCount: BeaconCount,
  metrics: strictObject(
    'Each metric of the period',
    byMetric(() => MetricOverview),
  ),
  devices: v.pipe(
    v.array(v.strictObject({ deviceType: Device, ...group })),
    v.description('By kind of device, the most beacons first'),
  ),
  countries: v.pipe(
    v.array(v.strictObject({ country: Country, ...group })),
    v.description('By country, the most beacons first'),
  ),
  paths: v.pipe(
    v.array(v.strictObject({ path: text('The path of the page'), ...group })),
    v.description('The 20 with the most samples; * replaces ids'),
  ),
  attribution: AttributionTotals,
  connections: v.pipe(
    v.array(
      v.strictObject({
        connectionType: text('As browsers name it, such as 4g'),
        count: count('Beacons that name it'),
      }),
    ),
    v.description('By kind of network, the most beacons first'),
  ),
  errors: v.pipe(v.array(ErrorGroup), v.description('The 20 most frequent kinds')),
  series: v.pipe(
    v.optional(v.array(SeriesPoint)),
    v.description('If requested: each hour or day with a metric, oldest first'),
  ),
  beacons: strictObject('The beacons of the period, by outcome', {
    accepted: count('Stored'),
    bots: count('Not stored, because the user agent names a bot'),
    refused: count('Not stored, because too many came at once'),
    droppedValues: count('Metrics that were out of range'),
    lastHour: v.pipe(
      v.nullable(Hour),
      v.description('The last hour with an accepted beacon; null: none'),
    ),
  }),
})
export type RumOverview = v.InferOutput<typeof RumOverview>
