import * as v from 'valibot'
import { count, strictObject, text, textUpTo } from '../common.ts'
import { Attribution } from './attribution.ts'
import { byMetric, byVital, METRIC_RULES, METRICS, type Metric } from './metrics.ts'

export const BEACON_MAX_BYTES = 4096

export const DEVICE_TYPES = ['desktop', 'mobile', 'tablet'] as const
export type DeviceType = (typeof DEVICE_TYPES)[number]

const position = (description: string) =>
  v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.description(description)))
const ErrorText = textUpTo(BEACON_MAX_BYTES)

const Metrics = v.object(byMetric((metric) => v.optional(metricValue(METRIC_RULES[metric]))))

function metricValue({ unit, max }: (typeof METRIC_RULES)[Metric]) {
  const unitText = unit === 'ms' ? 'Milliseconds' : 'No unit'
  return v.pipe(
    v.number(),
    v.description(`${unitText}; a value that is not from 0 to ${max} is dropped`),
  )
}

/** valibot would accept an array as an object. */
const NoArray = v.pipe(
  v.unknown(),
  v.check((value) => !Array.isArray(value), 'must be an object'),
)
const BeaconMetrics = v.pipe(NoArray, Metrics)
const BeaconAttribution = v.pipe(NoArray, Attribution)

const BeaconError = v.object({
  message: v.pipe(ErrorText, v.minLength(1), v.description('The first 200 characters are kept')),
  type: v.optional(v.pipe(ErrorText, v.description('The name of the error, such as TypeError'))),
  source: v.optional(v.pipe(ErrorText, v.description('The URL of the script'))),
  line: position('The line in the script'),
  column: position('The column in that line'),
  stack: v.optional(v.pipe(ErrorText, v.description('The first 1000 characters are kept'))),
})

/** The JSON Schema of beacons with neither metrics nor errors, which `keepBeacon` refuses. */
const NOTHING = {
  properties: {
    metrics: {
      not: {
        anyOf: METRICS.map((metric) => ({
          properties: { [metric]: { type: 'number' } },
          required: [metric],
        })),
      },
    },
    errors: { maxItems: 0 },
  },
  additionalProperties: true,
} as const

export const Beacon = v.pipe(
  v.object({
    path: v.optional(
      v.pipe(
        textUpTo(500),
        v.regex(/^[^?]*$/, 'must have no query string'),
        v.description('Path of the page, without a query string'),
      ),
    ),
    deviceType: v.optional(v.pipe(v.picklist(DEVICE_TYPES), v.description('Kind of device'))),
    connectionType: v.optional(v.pipe(textUpTo(100), v.description('Kind of network, such as 4g'))),
    metrics: v.optional(v.pipe(BeaconMetrics, v.description('What the browser measured'))),
    attribution: v.optional(BeaconAttribution),
    errors: v.optional(
      v.pipe(v.array(BeaconError), v.maxLength(10), v.description('Errors of scripts on the page')),
    ),
  }),
  v.description('What a page measured; it needs metrics, errors or both'),
  v.metadata({ not: NOTHING }),
)
export type Beacon = v.InferOutput<typeof Beacon>

export const Hour = v.pipe(
  v.string(),
  v.regex(
    /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3])$/,
    'must be an hour, such as 2026-01-15T09',
  ),
)

export const HourPeriod = strictObject('The hours that the answer covers', {
  from: v.pipe(Hour, v.description('First hour, UTC')),
  to: v.pipe(Hour, v.description('Last hour, UTC, included')),
})

export const Domain = text('The host or origin that was asked for')
export const Country = v.nullable(text('ISO 3166-1 alpha-2; null: unknown'))
export const Device = v.nullable(text('desktop, mobile or tablet; null: unknown'))

const percentile = (name: string) =>
  v.nullable(v.pipe(v.number(), v.description(`${name}; null: no values`)))

export const PercentileSet = strictObject(
  'Percentiles of one metric: milliseconds, or no unit for cls',
  {
    p50: percentile('Median'),
    p75: percentile('75th percentile'),
    p95: percentile('95th percentile'),
  },
)
export type PercentileSet = v.InferOutput<typeof PercentileSet>

export const RumSummary = strictObject('One row for each hour, country and device with a metric', {
  domain: Domain,
  period: HourPeriod,
  metrics: v.pipe(
    v.array(
      v.strictObject({
        hour: v.pipe(Hour, v.description('UTC, by the clock of the server')),
        country: Country,
        deviceType: Device,
        sampleCount: count('Beacons with at least one metric'),
        ...byVital(() => PercentileSet),
      }),
    ),
    v.description('By hour, then country and device'),
  ),
})
export type RumSummary = v.InferOutput<typeof RumSummary>

export const SummaryQuery = v.object({
  domain: v.pipe(
    textUpTo(300),
    v.minLength(1),
    v.description('A registered site, as a host or an origin'),
    v.examples(['shop.example']),
  ),
  country: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[A-Za-z]{2}$/, 'must be two letters, such as GB'),
      v.toUpperCase(),
      v.description('ISO 3166-1 alpha-2'),
      v.examples(['GB']),
    ),
  ),
  device: v.optional(v.pipe(v.picklist(DEVICE_TYPES), v.description('Kind of device'))),
  from: v.optional(v.pipe(Hour, v.description('First hour, UTC; by default seven days ago'))),
  to: v.optional(v.pipe(Hour, v.description('Last hour, UTC; by default the current one'))),
})
export type SummaryQuery = v.InferOutput<typeof SummaryQuery>
