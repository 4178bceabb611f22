import type { Beacon } from '../../lib/contract/telemetry-schemas.ts'
import { drawTime, pick, type Random } from './draw.ts'
import type { Country, Device, ShopPage } from './population.ts'

type Metrics = NonNullable<Beacon['metrics']>
type Errors = NonNullable<Beacon['errors']>

interface Connection {
  readonly weight: number
  readonly connectionType: string
  /** How many times as long as the best one it takes. */
  readonly slowness: number
}

const CONNECTIONS: readonly [Connection, ...Connection[]] = [
  { weight: 84, connectionType: '4g', slowness: 1 },
  { weight: 13, connectionType: '3g', slowness: 3.2 },
  { weight: 2, connectionType: '2g', slowness: 8 },
  { weight: 1, connectionType: 'slow-2g', slowness: 14 },
]

/** Shares of page views. */
const WITH_INPUT = 0.62
const WITH_SHIFT = 0.3
const ON_OPEN_CONNECTION = 0.45
const WITH_ERROR = 0.012
const WITH_CHECKOUT_ERROR = 0.09

/** What a visitor with `device` in `country` measures on `page`. */
export function drawBeacon(
  random: Random,
  { country, device, page }: { country: Country; device: Device; page: ShopPage },
): Beacon {
  const { connectionType, slowness } = pick(random, CONNECTIONS)
  const roundTripMs = country.roundTripMs * slowness
  const errors = drawErrors(random, page)
  return {
    path: page.path,
    deviceType: device.deviceType,
    ...(device.isChromium && { connectionType }),
    metrics: {
      ...drawNavigation(random, roundTripMs, page.lcpMs * device.slowness),
      ...drawInput(random, device),
      ...(device.isChromium && { cls: drawShift(random, page) }),
    },
    ...(errors.length > 0 && { errors }),
  }
}

function drawNavigation(random: Random, roundTripMs: number, workMs: number): Metrics {
  const isOpen = random() < ON_OPEN_CONNECTION
  const dns = drawTime(random, 18, 0.8)
  const tls = drawTime(random, roundTripMs * 1.1, 0.3)
  const request = drawTime(random, roundTripMs + 70, 0.5)
  const before = isOpen ? 0 : dns + tls + roundTripMs
  const ttfb = roundTenth(before + request)
  return {
    ttfb,
    request,
    response: drawTime(random, roundTripMs * 0.4 + 8, 0.7),
    ...(!isOpen && { dns, tls }),
    lcp: roundTenth(ttfb + drawTime(random, workMs, 0.4)),
  }
}

/** INP comes in steps of 8 ms, as browsers tell it. */
function drawInput(random: Random, { slowness, isChromium }: Device): Metrics {
  if (random() > WITH_INPUT) return {}
  const inp = Math.max(8, Math.round(drawTime(random, 55 * slowness, 0.75) / 8) * 8)
  return { fid: drawTime(random, 3 * slowness, 0.9), ...(isChromium && { inp }) }
}

function drawShift(random: Random, { shift }: ShopPage): number {
  if (random() > WITH_SHIFT) return 0
  return Math.round(drawTime(random, shift * 1000, 0.7) * 10) / 10_000
}

function drawErrors(random: Random, { path }: ShopPage): Errors {
  if (path === '/checkout' && random() < WITH_CHECKOUT_ERROR) return [CHECKOUT_ERROR]
  return random() < WITH_ERROR ? [pick(random, ERRORS).error] : []
}

const CHECKOUT_ERROR = {
  message: "Uncaught TypeError: Cannot read properties of undefined (reading 'total')",
  type: 'TypeError',
  source: 'https://cdn.example/checkout.js',
  line: 212,
  column: 31,
  stack: 'TypeError\n    at showTotal (https://cdn.example/checkout.js:212:31)',
}

interface Failure {
  readonly weight: number
  readonly error: Errors[number]
}

const ERRORS: readonly [Failure, ...Failure[]] = [
  { weight: 5, error: { message: 'Script error.' } },
  { weight: 3, error: { message: 'Failed to fetch', type: 'TypeError' } },
  {
    weight: 2,
    error: {
      message: 'ResizeObserver loop completed with undelivered notifications.',
      source: 'https://cdn.example/shop.js',
      line: 1,
      column: 8841,
    },
  },
]

function roundTenth(value: number): number {
  return Math.round(value * 10) / 10
}
