import * as v from 'valibot'
import { textUpTo } from './common.ts'

export const BEACON_MAX_BYTES = 4096

export const DEVICE_TYPES = ['desktop', 'mobile', 'tablet'] as const
export type DeviceType = (typeof DEVICE_TYPES)[number]

const Milliseconds = v.pipe(
  v.number(),
  v.description('Milliseconds; a value that is not from 0 to 600000 is dropped'),
)
const Line = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const ErrorText = textUpTo(BEACON_MAX_BYTES)

const Metrics = v.object({
  lcp: v.optional(Milliseconds),
  fid: v.optional(Milliseconds),
  inp: v.optional(Milliseconds),
  cls: v.optional(
    v.pipe(v.number(), v.description('No unit; a value that is not from 0 to 100 is dropped')),
  ),
  ttfb: v.optional(Milliseconds),
  dns: v.optional(Milliseconds),
  tls: v.optional(Milliseconds),
  request: v.optional(Milliseconds),
  response: v.optional(Milliseconds),
})

/** A list is none, though it is an object to valibot. */
const BeaconMetrics = v.pipe(
  v.unknown(),
  v.check((metrics) => !Array.isArray(metrics), 'must be an object'),
  Metrics,
)

const BeaconError = v.object({
  message: v.pipe(ErrorText, v.minLength(1), v.description('The first 200 characters are kept')),
  type: v.optional(v.pipe(ErrorText, v.description('The name of the error, such as TypeError'))),
  source: v.optional(v.pipe(ErrorText, v.description('The URL of the script'))),
  line: v.optional(Line),
  column: v.optional(Line),
  stack: v.optional(v.pipe(ErrorText, v.description('The first 1000 characters are kept'))),
})

/** What `keepBeacon` refuses, in the words of JSON Schema: neither a metric nor an error. */
const NOTHING = {
  properties: {
    metrics: {
      not: {
        anyOf: Object.keys(Metrics.entries).map((metric) => ({
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
        v.regex(/^[^?]*$/),
        v.description('Path of the page, without a query string'),
      ),
    ),
    deviceType: v.optional(v.picklist(DEVICE_TYPES)),
    connectionType: v.optional(v.pipe(textUpTo(100), v.description('Kind of network, such as 4g'))),
    metrics: v.optional(BeaconMetrics),
    errors: v.optional(v.pipe(v.array(BeaconError), v.maxLength(10))),
  }),
  v.description('What a page measured; metrics, errors or both must be there'),
  v.metadata({ not: NOTHING }),
)
export type Beacon = v.InferOutput<typeof Beacon>

export const Hour = v.pipe(
  v.string(),
  v.regex(/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3])$/),
)

export const PercentileSet = v.strictObject({
  p50: v.nullable(v.number()),
  p75: v.nullable(v.number()),
  p95: v.nullable(v.number()),
})
export type PercentileSet = v.InferOutput<typeof PercentileSet>

export const RumSummary = v.pipe(
  v.strictObject({
    domain: v.string(),
    period: v.strictObject({ from: Hour, to: Hour }),
    metrics: v.array(
      v.strictObject({
        hour: v.pipe(Hour, v.description('UTC, by the clock of the server')),
        country: v.pipe(v.nullable(v.string()), v.description('ISO 3166-1 alpha-2')),
        deviceType: v.nullable(v.string()),
        sampleCount: v.pipe(
          v.number(),
          v.integer(),
          v.minValue(0),
          v.description('Beacons with at least one metric'),
        ),
        lcp: PercentileSet,
        inp: PercentileSet,
        cls: PercentileSet,
        ttfb: PercentileSet,
        fid: PercentileSet,
      }),
    ),
  }),
  v.description('One row for each hour, country and device that sent beacons'),
)
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
      v.regex(/^[A-Z]{2}$/),
      v.description('ISO 3166-1 alpha-2'),
      v.examples(['GB']),
    ),
  ),
  device: v.optional(v.pipe(v.picklist(DEVICE_TYPES), v.description('Kind of device'))),
  from: v.optional(v.pipe(Hour, v.description('First hour, UTC; seven days ago unless told'))),
  to: v.optional(v.pipe(Hour, v.description('Last hour, UTC; the current one unless told'))),
})
export type SummaryQuery = v.InferOutput<typeof SummaryQuery>
