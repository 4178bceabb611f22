/*
 * Times as pages and charts show them, all in UTC. `at`, `now`, `from` and `to` are epoch milliseconds. The year is
 * left out if it is that of `now`; null: it is shown.
 */

/** 15 Jan, or 15 Jan 2025. */
export function dayText(at: number, now: number | null): string {
  const { day, month, year } = partsOf(at)
  const isThisYear = now !== null && partsOf(now).year === year
  return isThisYear ? `${day} ${month}` : `${day} ${month} ${year}`
}

/** 15 Jan, 12:00 */
export function minuteText(at: number, now: number | null): string {
  return `${dayText(at, now)}, ${clockText(at)}`
}

/** 12:00 */
export function clockText(at: number): string {
  return partsOf(at).clock
}

/** 15–21 Jan, or 28 Jan – 3 Feb; with the hours if the first day is not a whole one. */
export function rangeText(from: number, to: number, now: number | null): string {
  if (clockText(from) !== '00:00') return `${minuteText(from, now)} – ${minuteText(to, now)}`
  const [first, last] = [partsOf(from), partsOf(to)]
  const end = dayText(to, now)
  if (first.year !== last.year || first.month !== last.month)
    return `${dayText(from, now)} – ${end}`
  return first.day === last.day ? end : `${first.day}–${end}`
}

/** November 2026, of a month of the API, 2026-11. */
export function monthText(month: string): string {
  const parts = { month: 'long', year: 'numeric', timeZone: 'UTC' } as const
  return new Date(month).toLocaleDateString('en', parts)
}

interface TimeParts {
  readonly day: number
  readonly month: string
  readonly year: string
  readonly clock: string
}

/** ECMA-262 fixes the format, whatever the language of the machine: `Thu, 15 Jan 2026 12:00:00 GMT`. */
function partsOf(at: number): TimeParts {
  const [, day, month = '', year = '', clock = ''] = new Date(at).toUTCString().split(' ')
  return { day: Number(day), month, year, clock: clock.slice(0, 5) }
}
