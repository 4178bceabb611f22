/** Offsets are seconds east of UTC. */
export interface PosixTz {
  readonly standard: number
  readonly daylight?: { readonly offset: number; readonly start: Change; readonly end: Change }
}

/** A yearly change of the clocks: a day, and seconds of local time since its midnight. */
interface Change {
  readonly day: DayOf
  readonly seconds: number
}

/** The day of a year on which a rule falls, in days since 1970. */
type DayOf = (year: number) => number

const DAY_SECONDS = 86_400
const DAY_MS = 86_400_000

const NAME = '(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]{3,}>)'
const TIME = '[+-]?\\d{1,3}(?::[0-5]\\d){0,2}'
const DAY = '(?:J?\\d{1,3}|M\\d{1,2}\\.\\d\\.\\d)'
const RULES = `,(?<start>${DAY})(?:/(?<startTime>${TIME}))?,(?<end>${DAY})(?:/(?<endTime>${TIME}))?`
const FORM = new RegExp(`^${NAME}(?<west>${TIME})(?:${NAME}(?<dstWest>${TIME})?${RULES})?$`)
const MONTH_DAY = /^M(?<month>\d+)\.(?<week>\d)\.(?<weekday>\d)$/

const MAX_OFFSET_HOURS = 24
const MAX_CHANGE_HOURS = 167

/**
 * Parses a POSIX TZ string in the form of RFC 9636 section 3.3.1: change times may be -167 to 167
 * hours, and daylight saving needs its two rules. Undefined for any other text.
 */
export function parsePosixTz(text: string): PosixTz | undefined {
  const { west, dstWest, start, startTime, end, endTime } = FORM.exec(text)?.groups ?? {}
  const standardWest = parseTime(west, MAX_OFFSET_HOURS)
  if (standardWest === undefined) return undefined
  const standard = 0 - standardWest // not -0
  if (start === undefined) return { standard }

  // Without an offset of its own, daylight saving time is one hour ahead.
  const daylightWest = dstWest ? parseTime(dstWest, MAX_OFFSET_HOURS) : standardWest - 3600
  const from = parseChange(start, startTime)
  const to = parseChange(end, endTime)
  if (daylightWest === undefined || from === undefined || to === undefined) return undefined
  return { standard, daylight: { offset: 0 - daylightWest, start: from, end: to } }
}

/** The offset in seconds east of UTC at `time` (epoch seconds). */
export function posixOffset({ standard, daylight }: PosixTz, time: number): number {
  if (daylight === undefined) return standard
  const thisYear = new Date(time * 1000).getUTCFullYear()
  let latest = Number.NEGATIVE_INFINITY
  let offset = standard
  // A change can fall into a neighbouring year. Where daylight saving lasts all year, its end is
  // the moment of the next start: the later year wins.
  for (let year = thisYear - 1; year <= thisYear + 1; year++) {
    const changes = [
      { at: timeOf(daylight.start, year) - standard, to: daylight.offset },
      { at: timeOf(daylight.end, year) - daylight.offset, to: standard },
    ]
    for (const { at, to } of changes) if (at <= time && at >= latest) [latest, offset] = [at, to]
  }
  return offset
}

function timeOf(change: Change, year: number): number {
  return change.day(year) * DAY_SECONDS + change.seconds
}

function parseTime(text: string | undefined, maxHours: number): number | undefined {
  if (text === undefined) return undefined
  const [hours = 0, minutes = 0, seconds = 0] = text.replace(/^[+-]/, '').split(':').map(Number)
  const total = hours * 3600 + minutes * 60 + seconds
  if (total > maxHours * 3600 + 3599) return undefined
  return text.startsWith('-') ? -total : total
}

function parseChange(text: string | undefined, time = '2'): Change | undefined {
  const day = text === undefined ? undefined : parseDay(text)
  const seconds = parseTime(time, MAX_CHANGE_HOURS)
  return day === undefined || seconds === undefined ? undefined : { day, seconds }
}

function parseDay(text: string): DayOf | undefined {
  const monthDay = MONTH_DAY.exec(text)?.groups
  if (monthDay !== undefined) {
    const { month, week, weekday } = monthDay
    return dayOfMonth(Number(month), Number(week), Number(weekday))
  }
  const isJulian = text.startsWith('J')
  const day = Number(isJulian ? text.slice(1) : text)
  if (day > 365 || (isJulian && day === 0)) return undefined
  if (!isJulian) return (year) => firstOf(year, 1) + day
  // J counts from 1 and leaves out February 29.
  return (year) => firstOf(year, 1) + day - 1 + (day >= 60 ? leapDays(year) : 0)
}

/** The given weekday (Sunday is 0) of the given week of a month; week 5 is the last. */
function dayOfMonth(month: number, week: number, weekday: number): DayOf | undefined {
  if (month < 1 || month > 12 || week < 1 || week > 5 || weekday > 6) return undefined
  return (year) => {
    const first = firstOf(year, month)
    const weekdayOfFirst = new Date(first * DAY_MS).getUTCDay()
    const day = first + ((weekday - weekdayOfFirst + 7) % 7) + (week - 1) * 7
    return day < firstOf(year, month + 1) ? day : day - 7
  }
}

function firstOf(year: number, month: number): number {
  return Date.UTC(year, month - 1) / DAY_MS
}

function leapDays(year: number): number {
  return firstOf(year, 3) - firstOf(year, 2) - 28
}
