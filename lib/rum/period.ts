import type { SummaryQuery } from '../contract/telemetry-schemas.ts'
import { ApiError } from '../errors.ts'
import { dayOfHour, hourOf, parseHour } from './hour.ts'

/** Hours since 1970-01-01, UTC, both included. */
export interface Period {
  readonly from: number
  readonly to: number
}

const DEFAULT_HOURS = 7 * 24
const MAX_HOURS = 92 * 24

/** The last seven days where nothing is told. Throws BAD_REQUEST. */
export function readPeriod({ from, to }: Pick<SummaryQuery, 'from' | 'to'>, now: number): Period {
  const period = {
    from: from === undefined ? hourOf(now) - DEFAULT_HOURS : readHour('from', from),
    to: to === undefined ? hourOf(now) : readHour('to', to),
  }
  if (period.from > period.to) throw new ApiError('BAD_REQUEST', 'from: must not be after to')
  if (period.to - period.from > MAX_HOURS) {
    throw new ApiError('BAD_REQUEST', 'from: must be at most 92 days before to')
  }
  return period
}

function readHour(name: string, text: string): number {
  const hour = parseHour(text)
  if (hour === null) throw new ApiError('BAD_REQUEST', `${name}: there is no hour "${text}"`)
  return hour
}

const HOURS_OF_DAY = 24

/** The days, since 1970-01-01, UTC, that have some hours of the period. */
export function daysOf({ from, to }: Period): Period {
  return { from: dayOfHour(from), to: dayOfHour(to) }
}

/** The whole days of the period, and the hours before and after them. */
export function splitPeriod(period: Period): { days?: Period; hours: readonly Period[] } {
  const first = Math.ceil(period.from / HOURS_OF_DAY)
  const end = Math.floor((period.to + 1) / HOURS_OF_DAY)
  if (first >= end) return { hours: [period] }
  const before = { from: period.from, to: first * HOURS_OF_DAY - 1 }
  const after = { from: end * HOURS_OF_DAY, to: period.to }
  const hours = [before, after].filter(({ from, to }) => from <= to)
  return { days: { from: first, to: end - 1 }, hours }
}
