import { METRIC_RULES, METRICS, type Metric } from '../../contract/telemetry/metrics.ts'
import type { Beacon, DeviceType } from '../../contract/telemetry/telemetry-schemas.ts'
import { ApiError } from '../../parts/errors.ts'
import type { Values } from '../sketch/measures.ts'
import { type Causes, keepCauses } from './attribution.ts'
import { type PageError, toPageError } from './page-error.ts'
import { plainPath } from './plain-path.ts'

/** The parts of a beacon that are stored, with only valid values. */
export interface KeptBeacon {
  readonly path?: string
  readonly device?: DeviceType
  readonly connection?: Connection
  readonly metrics: Values
  /** Absent in the journal of older releases, and where there are none. */
  readonly causes?: Causes
  readonly errors: readonly PageError[]
  /** Number of values dropped because they were out of range. */
  readonly dropped: number
}

export const CONNECTIONS = ['slow-2g', '2g', '3g', '4g', 'wifi', 'other'] as const
export type Connection = (typeof CONNECTIONS)[number]

/** Drops values out of range. Throws BAD_REQUEST if the beacon has neither a metric nor an error. */
export function keepBeacon(beacon: Beacon): KeptBeacon {
  const { path, deviceType, connectionType, metrics = {}, attribution, errors = [] } = beacon
  const sent = METRICS.filter((metric) => metrics[metric] !== undefined)
  if (sent.length === 0 && errors.length === 0) {
    throw new ApiError('BAD_REQUEST', 'The beacon has neither metrics nor errors')
  }
  const kept = keepValues(metrics)
  return {
    ...(path !== undefined && { path: plainPath(path) }),
    ...(deviceType !== undefined && { device: deviceType }),
    ...(connectionType !== undefined && { connection: toConnection(connectionType) }),
    metrics: kept,
    ...(attribution !== undefined && { causes: keepCauses(attribution, kept) }),
    errors: errors.map(toPageError),
    dropped: sent.length - Object.keys(kept).length,
  }
}

function keepValues(metrics: NonNullable<Beacon['metrics']>): Values {
  const kept: Partial<Record<Metric, number>> = {}
  for (const metric of METRICS) {
    const value = metrics[metric]
    if (value !== undefined && value >= 0 && value <= METRIC_RULES[metric].max) kept[metric] = value
  }
  return kept
}

function toConnection(text: string): Connection {
  const name = text.toLowerCase()
  return CONNECTIONS.find((connection) => connection === name) ?? 'other'
}
