import type { OverviewQuery, SeriesStep } from '../../lib/contract/telemetry-overview.ts'
import { DEVICE_TYPES } from '../../lib/contract/telemetry-schemas.ts'
import { ApiError } from '../../lib/errors.ts'
import { dayOfHour, formatHour, HOURS_OF_DAY, hourOf, parseHour } from '../../lib/rum/hour.ts'
import {
  PERIODS,
  type PeriodName,
  type VitalsChoice,
} from '../../pages/dashboard/vitals/filters.tsx'

/** Reads the address of the page. What it does not say, or what is none, is as usual. */
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

/** Hours since 1970-01-01, UTC, both included. */
export interface AskedPeriod {
  readonly from: number
  readonly to: number
}

/** Throws BAD_REQUEST where two days are to be told and are not. */
export function toPeriod({ period, from, to }: VitalsChoice, now: number): AskedPeriod {
  if (period !== 'custom') return { from: firstHour(period, hourOf(now)), to: hourOf(now) }
  const [first, last] = [parseHour(`${from}T00`), parseHour(`${to}T23`)]
  if (first !== null && last !== null) return { from: first, to: last }
  throw new ApiError('BAD_REQUEST', 'Choose the first and the last day')
}

/** By the day those of many days are whole days, of which the last is today. */
function firstHour(period: Exclude<PeriodName, 'custom'>, now: number): number {
  const since = (days: number) => (dayOfHour(now) - days + 1) * HOURS_OF_DAY
  switch (period) {
    case '24h':
      return now - HOURS_OF_DAY + 1
    case '7d':
      return now - 7 * HOURS_OF_DAY + 1
    case '28d':
      return since(28)
    case '90d':
      return since(90)
  }
}

const MOST_HOURS = 7 * HOURS_OF_DAY
const KEPT_HOURS = 90 * HOURS_OF_DAY

export function stepOf({ from, to }: AskedPeriod): SeriesStep {
  return to - from < MOST_HOURS ? 'hour' : 'day'
}

/** As many hours, just before. Null: they are not kept any more, or only in part. */
export function periodBefore({ from, to }: AskedPeriod, now: number): AskedPeriod | null {
  const before = { from: from - (to - from + 1), to: from - 1 }
  return before.from < hourOf(now) - KEPT_HOURS ? null : before
}

type Asked = Pick<OverviewQuery, 'domain' | 'device' | 'country' | 'from' | 'to'>

export function toQuery({ site, device, country }: VitalsChoice, period: AskedPeriod): Asked {
  return {
    domain: site,
    from: formatHour(period.from),
    to: formatHour(period.to),
    ...(device !== '' && { device }),
    ...(country !== '' && { country }),
  }
}
