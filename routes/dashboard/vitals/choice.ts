import { VITALS } from '../../../lib/contract/telemetry/metrics.ts'
import type { SeriesStep } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { fieldError } from '../../../lib/parts/errors.ts'
import {
  dayOfHour,
  formatHour,
  HOURS_OF_DAY,
  hourOf,
  parseHour,
  type TelemetryPeriod,
} from '../../../lib/rum/hour.ts'
import {
  AUDIENCES,
  type Audience,
  PERIODS,
  SORTS,
  type VitalsChoice,
} from '../../../pages/dashboard/vitals/choice.ts'

/** Reads the query of the page. Missing and invalid values get their defaults. */
export function readChoice(
  query: (name: string) => string | undefined,
  sites: readonly string[],
): VitalsChoice {
  const text = (name: string) => query(name) ?? ''
  const country = /^[A-Z]{2}$/.exec(text('country'))?.[0] ?? ''
  const oneOf = <Name extends string>(name: string, known: readonly Name[]) =>
    known.find((value) => value === query(name))
  return {
    site: query('site') || (sites[0] ?? ''),
    period: oneOf('period', PERIODS) ?? '7d',
    from: text('from'),
    to: text('to'),
    device: oneOf('device', AUDIENCES) ?? '',
    country,
    path: country === '' ? text('path') : '',
    metric: oneOf('metric', VITALS) ?? 'lcp',
    sort: oneOf('sort', SORTS) ?? 'views',
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
  if (first === null) throw fieldError('from', 'Choose the first day')
  if (last === null) throw fieldError('to', 'Choose the last day')
  if (first > last) throw fieldError('to', 'Choose a day after the first one')
  return { from: first, to: last }
}

const DAYS = { '24h': 1, '7d': 7, '28d': 28, '90d': 90 } as const

/** A period that is shown by day starts with a whole day. */
function lastDays(days: number, now: number): TelemetryPeriod {
  if (days < MIN_DAYS_BY_DAY) return { from: now - days * HOURS_OF_DAY + 1, to: now }
  return { from: (dayOfHour(now) - days + 1) * HOURS_OF_DAY, to: now }
}

/** Shorter periods are shown by hour. */
const MIN_DAYS_BY_DAY = 7
/** A comparison reaches back at most this far. */
const COMPARED_HOURS = 90 * HOURS_OF_DAY

export function stepOf({ from, to }: TelemetryPeriod): SeriesStep {
  return dayOfHour(to) - dayOfHour(from) < MIN_DAYS_BY_DAY - 1 ? 'hour' : 'day'
}

/** The period of the same length just before; null if it begins more than 90 days ago. */
export function periodBefore({ from, to }: TelemetryPeriod, now: number): TelemetryPeriod | null {
  const before = { from: from - (to - from + 1), to: from - 1 }
  return before.from < hourOf(now) - COMPARED_HOURS ? null : before
}

/** The query of an overview: pages are counted over all countries. */
export function toQuery(choice: VitalsChoice, audience: Audience, period: TelemetryPeriod) {
  const { site, country, path } = choice
  return {
    domain: site,
    from: formatHour(period.from),
    to: formatHour(period.to),
    ...(audience !== 'all' && { device: audience }),
    ...(country !== '' && { country }),
    ...(path !== '' && { path }),
  }
}
