import { createRandom } from '../random.ts'
import { drawCount, pick, type Random } from './draw.ts'
import { drawBeacon } from './page-view.ts'
import { COUNTRIES, type Country, DEVICES, PAGES } from './population.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Views by hour of the day where the visitor is; few at night, most in the evening. */
const HOURS = [
  ...[2, 1, 1, 1, 1, 2, 4, 7, 10, 12, 13, 14],
  ...[15, 14, 13, 13, 14, 16, 19, 22, 23, 20, 13, 6],
]
const HOURS_TOTAL = HOURS.reduce((sum, views) => sum + views)
const COUNTRIES_TOTAL = COUNTRIES.reduce((sum, { weight }) => sum + weight, 0)
const WEEKEND_FACTOR = 1.25

/** A beacon as it reaches the endpoint. */
export interface DemoBeacon {
  /** Epoch milliseconds. */
  readonly at: number
  readonly origin: string
  readonly address: string
  readonly userAgent: string
  /** JSON. */
  readonly body: string
}

export interface TrafficOptions {
  readonly origin: string
  /** Epoch milliseconds, of which the first is in and the second is not. */
  readonly from: number
  readonly until: number
  readonly viewsPerDay: number
  readonly seed: number
}

/** The beacons of a shop, in the order of time; the same ones for the same options. */
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

interface View {
  readonly at: number
  readonly country: Country
}

/** The times within one hour, at most, at which pages are viewed in the country. */
function drawTimes(
  random: Random,
  country: Country,
  { from, until, perDay }: { from: number; until: number; perDay: number },
): View[] {
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

function toBeacon(random: Random, { at, country }: View, origin: string): DemoBeacon {
  const device = pick(random, DEVICES)
  const page = pick(random, PAGES)
  return {
    at,
    origin,
    address: drawAddress(random, country),
    userAgent: device.userAgent,
    body: JSON.stringify(drawBeacon(random, { country, device, page })),
  }
}

function drawAddress(random: Random, { networks }: Country): string {
  const network = networks[Math.floor(random() * networks.length)]
  return `${network}.${Math.floor(random() * 256)}.${1 + Math.floor(random() * 254)}`
}

/** The start of a week, or of as many days, that ends at `now`. */
export function startOf(days: number, now: number): number {
  return Math.floor((now - days * DAY_MS) / HOUR_MS) * HOUR_MS
}
