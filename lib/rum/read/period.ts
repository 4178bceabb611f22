import type { OverviewQuery, SeriesStep } from '../../contract/telemetry/telemetry-overview.ts'
import type { SummaryQuery } from '../../contract/telemetry/telemetry-schemas.ts'
import { fieldError } from '../../parts/errors.ts'
import {
  dayOfHour,
  HOURS_OF_DAY,
  hourOf,
  KEPT_DAYS,
  parseHour,
  type TelemetryPeriod,
} from '../hour.ts'

const DEFAULT_HOURS = 7 * HOURS_OF_DAY
const MAX_HOURS = KEPT_DAYS * HOURS_OF_DAY
const MAX_HOURLY = DEFAULT_HOURS

/**
 * Returns a period of hours, by default the last seven days. Throws BAD_REQUEST if an hour does not
 * exist, or if the period is reversed or too long.
 */
export function readPeriod(
  { from, to }: Pick<SummaryQuery, 'from' | 'to'>,
  now: number,
): TelemetryPeriod {
  const period = {
    from: from === undefined ? hourOf(now) - DEFAULT_HOURS : readHour('from', from),
    to: to === undefined ? hourOf(now) : readHour('to', to),
  }
  if (period.from > period.to) throw fieldError('from', 'must not be after to')
  if (period.to - period.from > MAX_HOURS) {
    throw fieldError(
      'from',
      `must be at most ${KEPT_DAYS} days before to, because data is kept that long`,
    )
  }
  return period
}

/** Throws BAD_REQUEST if the period is too long for a series by hour. */
export function readStep(
  { series }: OverviewQuery,
  { from, to }: TelemetryPeriod,
): SeriesStep | undefined {
  if (series === 'hour' && to - from > MAX_HOURLY) {
    throw fieldError('series', 'hour needs a period of at most seven days')
  }
  return series
}

/** Throws BAD_REQUEST if a page is chosen together with what pages are not counted by. */
export function readPath({ path, country, series }: OverviewQuery): string | undefined {
  if (path !== undefined && (country !== undefined || series === 'hour')) {
    const why = 'pages are counted by day, over all countries'
    throw fieldError('path', `leave out country and series=hour, because ${why}`)
  }
  return path
}

function readHour(name: string, text: string): number {
  const hour = parseHour(text)
  if (hour === null) throw fieldError(name, `there is no hour "${text}"`)
  return hour
}

/** The days that have at least one hour of the period. */
export function daysOf({ from, to }: TelemetryPeriod): TelemetryPeriod {
  return { from: dayOfHour(from), to: dayOfHour(to) }
}

/** The whole days of the period, and the hours before and after them. */
export function splitPeriod(period: TelemetryPeriod): {
  before?: TelemetryPeriod
  days?: TelemetryPeriod
  after?: TelemetryPeriod
} {
  const first = Math.ceil(period.from / HOURS_OF_DAY)
  const end = Math.floor((period.to + 1) / HOURS_OF_DAY)
  if (first >= end) return { before: period }
  const before = { from: period.from, to: first * HOURS_OF_DAY - 1 }
  const after = { from: end * HOURS_OF_DAY, to: period.to }
  return {
    days: { from: first, to: end - 1 },
    ...(before.from <= before.to && { before }),
    ...(after.from <= after.to && { after }),
  }
}
