import { BoundedCache } from '../../parts/bounded-cache.ts'
import { MINUTE_MS } from '../../parts/durations.ts'
import { type OffsetSpan, packedRelease, packedSpan } from './packed-zones.ts'

/** Twice the names in the IANA database. The limit keeps misspelt zones from filling the memory. */
const MAX_ZONES = 1_200

export const { utcOffset, timezoneData } = createOffsets(process.versions['tz'])

type FindSpan = (zone: string, now: number) => OffsetSpan | undefined

/**
 * Uses the newer release of the IANA timezone database: that of moment-timezone or that of the
 * runtime. Zones that the newer release lacks are looked up in the other one.
 */
export function createOffsets(runtimeRelease = '') {
  const isRuntimeNewer = () => runtimeRelease > packedRelease()
  const findSpan: FindSpan = (zone, now) =>
    isRuntimeNewer()
      ? (runtimeSpan(zone, now) ?? packedSpan(zone, now))
      : (packedSpan(zone, now) ?? runtimeSpan(zone, now))
  return {
    /**
     * The offset from UTC of an IANA timezone at `now` (epoch milliseconds) as +HH:MM or -HH:MM;
     * undefined for an unknown zone. Cached per zone: until its next transition with the data of
     * moment-timezone, for the current minute with that of the runtime.
     */
    utcOffset: cacheOffsets(findSpan),
    /** The data that `utcOffset` prefers, with its release, such as 2026f. */
    timezoneData: () =>
      isRuntimeNewer()
        ? { source: 'runtime', release: runtimeRelease }
        : { source: 'moment-timezone', release: packedRelease() },
  }
}

interface CachedOffset extends Omit<OffsetSpan, 'minutes'> {
  /** undefined for an unknown zone. */
  readonly text: string | undefined
}

function cacheOffsets(findSpan: FindSpan) {
  const cache = new BoundedCache<string, CachedOffset>(MAX_ZONES)
  return (zone: string, now: number): string | undefined => {
    const known = cache.get(zone)
    if (known !== undefined && now >= known.from && now < known.until) return known.text
    const span = findSpan(zone, now)
    const offset = span === undefined ? UNKNOWN : { ...span, text: offsetText(span.minutes) }
    cache.set(zone, offset)
    return offset.text
  }
}

const UNKNOWN: CachedOffset = {
  from: Number.NEGATIVE_INFINITY,
  until: Number.POSITIVE_INFINITY,
  text: undefined,
}

/**
 * Transitions fall on whole minutes, but `Intl` does not report them. So the span is the current
 * minute.
 */
function runtimeSpan(timeZone: string, now: number): OffsetSpan | undefined {
  const from = Math.floor(now / MINUTE_MS) * MINUTE_MS
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
    return { minutes: minutesOf(format.format(now)), from, until: from + MINUTE_MS }
  } catch {
    return undefined // with these options, the constructor throws only for an unknown zone
  }
}

/** The text ends in GMT, GMT+05:45 or, for historic offsets, GMT-00:44:30. */
function minutesOf(formatted: string): number {
  const [, sign, hours, minutes] = /GMT([+-])(\d{2}):(\d{2})/.exec(formatted) ?? []
  const size = Number(hours ?? 0) * 60 + Number(minutes ?? 0)
  return sign === '-' ? -size : size
}

/** Drops the seconds of historic offsets. */
function offsetText(minutes: number): string {
  const size = Math.trunc(Math.abs(minutes))
  const pair = (value: number) => String(value).padStart(2, '0')
  const sign = minutes < 0 && size > 0 ? '-' : '+'
  return `${sign}${pair(Math.trunc(size / 60))}:${pair(size % 60)}`
}
