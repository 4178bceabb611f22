import type { SummaryQuery } from '../contract/telemetry.ts'
import { ApiError } from '../errors.ts'
import { hourOf, parseHour } from './hour.ts'

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
