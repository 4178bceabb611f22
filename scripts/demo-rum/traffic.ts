import { DAY_MS, HOUR_MS } from '../../lib/parts/durations.ts'
import { createRandom, pick, pickByWeight, type Random } from '../parts/random.ts'
import { drawBeacon } from './page-view.ts'
import { COUNTRIES, type Country, DEVICES, PAGES } from './population.ts'

/** Views by local hour: few at night, most in the evening. */
const HOURS = [
  ...[2, 1, 1, 1, 1, 2, 4, 7, 10, 12, 13, 14],
  ...[15, 14, 13, 13, 14, 16, 19, 22, 23, 20, 13, 6],
]
const HOURS_TOTAL = HOURS.reduce((sum, views) => sum + views)
const COUNTRIES_TOTAL = COUNTRIES.reduce((sum, { weight }) => sum + weight, 0)
const WEEKEND_FACTOR = 1.25

/** A beacon as the endpoint receives it. `at` is its time in epoch milliseconds. */
export type DemoBeacon = ReturnType<typeof toBeacon>

/** Times are epoch milliseconds; `until` is exclusive. */
interface TrafficOptions {
  readonly origin: string
  readonly from: number
  readonly until: number
  readonly viewsPerDay: number
  readonly seed: number
}

/** Yields the beacons of a shop in chronological order. The same options give the same beacons. */
export function* createTraffic(options: TrafficOptions): Generator<DemoBeacon> {
  const random = createRandom(options.seed)
  for (let hour = options.from; hour < options.until; hour += HOUR_MS) {
    const end = Math.min(hour + HOUR_MS, options.until)
    const views = COUNTRIES.flatMap((country) =>
      drawTimes(random, country, { from: hour, until: end, perDay: options.viewsPerDay }),
    )
    for (const view of views.toSorted((a, b) => a.at - b.at)) {
      yield toBeacon(random, view, options.origin)
    }
  }
}

type View = ReturnType<typeof drawTimes>[number]

/** Draws the views of the country within a period of at most one hour. */
function drawTimes(
  random: Random,
  country: Country,
  { from, until, perDay }: { from: number; until: number; perDay: number },
) {
  const there = new Date(from + country.utcOffsetHours * HOUR_MS)
  const isWeekend = there.getUTCDay() % 6 === 0
  const ofDay = (HOURS[there.getUTCHours()] ?? 0) / HOURS_TOTAL
  const ofCountry = country.weight / COUNTRIES_TOTAL
  const ofHour = (until - from) / HOUR_MS
  const expected = perDay * ofCountry * ofDay * ofHour * (isWeekend ? WEEKEND_FACTOR : 1)
  return Array.from({ length: drawCount(random, expected) }, () => ({
    at: from + Math.floor(random() * (until - from)),
    country,
  }))
}

/** Draws a count that is `expected` on average. */
function drawCount(random: Random, expected: number): number {
  const whole = Math.floor(expected)
  const noise = Math.round((random() - 0.5) * Math.sqrt(expected) * 2)
  return Math.max(0, whole + noise + (random() < expected - whole ? 1 : 0))
}

function toBeacon(random: Random, { at, country }: View, origin: string) {
  const device = pickByWeight(random, DEVICES)
  const page = pickByWeight(random, PAGES)
  return {
    at,
    origin,
    address: drawAddress(random, country),
    userAgent: device.userAgent,
    body: JSON.stringify(drawBeacon(random, { country, device, page })),
  }
}

function drawAddress(random: Random, { networks }: Country): string {
  return `${pick(random, networks)}.${Math.floor(random() * 256)}.${1 + Math.floor(random() * 254)}`
}

/** The full hour `days` before `now`, in epoch milliseconds. */
export function startOf(days: number, now: number): number {
  return Math.floor((now - days * DAY_MS) / HOUR_MS) * HOUR_MS
}
