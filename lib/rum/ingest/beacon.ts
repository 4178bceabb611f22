import type { Beacon, DeviceType } from '../contract/telemetry-schemas.ts'
import { ApiError } from '../errors.ts'
import type { Values } from './measures.ts'
import { METRIC_RULES, METRICS, type Metric } from './metrics.ts'
import { type PageError, toPageError } from './page-error.ts'
import { plainPath } from './plain-path.ts'

/** A beacon as it is kept: what is of use, within bounds. */
export interface KeptBeacon {
  readonly path?: string
  readonly device?: DeviceType
  readonly connection?: Connection
  readonly metrics: Values
  readonly errors: readonly PageError[]
  /** How many values were out of range, and are not kept. */
  readonly dropped: number
}

export const CONNECTIONS = ['slow-2g', '2g', '3g', '4g', 'wifi', 'other'] as const
export type Connection = (typeof CONNECTIONS)[number]

/** Drops what is out of range. Throws BAD_REQUEST where there is neither metric nor error. */
export function keepBeacon(beacon: Beacon): KeptBeacon {
  const { path, deviceType, connectionType, metrics = {}, errors = [] } = beacon
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

/** Programs that say so. Cubot makes phones. */
const BOT =
  /(?<!cu)bots?\b|crawl|spider|slurp|headless|lighthouse|pagespeed|ptst\/|gtmetrix|pingdom|facebookexternalhit|bingpreview|mediapartners-google|phantomjs/i

/** Whether a user agent names itself as one that is no person's. */
export function isBot(userAgent: string | undefined): boolean {
  return userAgent !== undefined && BOT.test(userAgent)
}
