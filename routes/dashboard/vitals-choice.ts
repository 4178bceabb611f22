import type { SeriesStep } from '../../lib/contract/telemetry/telemetry-overview.ts'
import { DEVICE_TYPES } from '../../lib/contract/telemetry/telemetry-schemas.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import {
  dayOfHour,
  formatHour,
  HOURS_OF_DAY,
  hourOf,
  parseHour,
  type TelemetryPeriod,
} from '../../lib/rum/hour.ts'
import { PERIODS, type VitalsChoice } from '../../pages/dashboard/vitals/filters.tsx'

/** Reads the query of the page. Missing and invalid values get their defaults. */
export function readChoice(
  query: (name: string) => string | undefined,
  sites: readonly string[],
): VitalsChoice {
  const country = query('country') ?? ''
  return {
    site: query('site') || (sites[0] ?? ''),
    period: PERIODS.find((name) => name === query('period')) ?? '7d',
    from: query('from') ?? '',
    to: query('to') ?? '',
    device: DEVICE_TYPES.find((type) => type === query('device')) ?? '',
    country: /^[A-Z]{2}$/.test(country) ? country : '',
  }
}

/** Fills in the days of a named period, from which the fields for custom days start. */
export function withDays(choice: VitalsChoice, now: number): VitalsChoice {
  if (choice.period === 'custom') return choice
  const { from, to } = toPeriod(choice, now)
  return { ...choice, from: formatHour(from).slice(0, DAY), to: formatHour(to).slice(0, DAY) }
}

/** The length of a day in an hour such as 2026-01-15T09. */
const DAY = 10

/** Throws BAD_REQUEST if a custom period lacks a valid first or last day. */
export function toPeriod({ period, from, to }: VitalsChoice, now: number): TelemetryPeriod {
  if (period !== 'custom') return lastDays(DAYS[period], hourOf(now))
  const [first, last] = [parseHour(`${from}T00`), parseHour(`${to}T23`)]
  if (first === null) throw new ApiError('BAD_REQUEST', 'from: Choose the first day')
  if (last === null) throw new ApiError('BAD_REQUEST', 'to: Choose the last day')
  if (first > last) throw new ApiError('BAD_REQUEST', 'to: Choose a day after the first one')
  return { from: first, to: last }
}

const DAYS = { '24h': 1, '7d': 7, '28d': 28, '90d': 90 } as const

/** A period that is shown by day starts with a whole day. */
function lastDays(days: number, now: number): TelemetryPeriod {
  if (days <= MAX_DAYS_BY_HOUR) return { from: now - days * HOURS_OF_DAY + 1, to: now }
  return { from: (dayOfHour(now) - days + 1) * HOURS_OF_DAY, to: now }
}

/** Longer periods are shown by day. */
const MAX_DAYS_BY_HOUR = 7
/** A comparison reaches back at most this far. */
const COMPARED_HOURS = 90 * HOURS_OF_DAY

export function stepOf({ from, to }: TelemetryPeriod): SeriesStep {
  return to - from < MAX_DAYS_BY_HOUR * HOURS_OF_DAY ? 'hour' : 'day'
}

/** The period of the same length just before; null if it begins more than 90 days ago. */
export function periodBefore({ from, to }: TelemetryPeriod, now: number): TelemetryPeriod | null {
  const before = { from: from - (to - from + 1), to: from - 1 }
  return before.from < hourOf(now) - COMPARED_HOURS ? null : before
}

export function toQuery({ site, device, country }: VitalsChoice, period: TelemetryPeriod) {
  return {
    domain: site,
    from: formatHour(period.from),
    to: formatHour(period.to),
    ...(device !== '' && { device }),
    ...(country !== '' && { country }),
  }
}
