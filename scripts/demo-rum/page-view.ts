import type { Beacon } from '../../lib/contract/telemetry/telemetry-schemas.ts'
import { pickByWeight, type Random } from '../parts/random.ts'
import type { Country, Device, ShopPage } from './population.ts'

type Metrics = NonNullable<Beacon['metrics']>
type Errors = NonNullable<Beacon['errors']>

/** Each connection is slower than the best one by the factor `slowness`. */
const CONNECTIONS = [
  { weight: 84, connectionType: '4g', slowness: 1 },
  { weight: 13, connectionType: '3g', slowness: 3.2 },
  { weight: 2, connectionType: '2g', slowness: 8 },
  { weight: 1, connectionType: 'slow-2g', slowness: 14 },
]

/** What visitors click, and where most of the time goes. */
const INTERACTIONS = [
  { weight: 55, attribution: { inp: 'button.filter', inpPhase: 'processing' } },
  { weight: 30, attribution: { inp: '#menu>a', inpPhase: 'presentation' } },
  { weight: 15, attribution: { inp: 'form>input', inpPhase: 'input-delay' } },
]
const SHIFTED = [
  { weight: 70, cls: 'div.banner' },
  { weight: 30, cls: 'ul.grid' },
]

/** Shares of page views. */
const WITH_INPUT = 0.62
const WITH_SHIFT = 0.3
const ON_OPEN_CONNECTION = 0.45
const WITH_ERROR = 0.012
const WITH_CHECKOUT_ERROR = 0.09

/** Draws the beacon of one view of `page` from a `device` in `country`. */
export function drawBeacon(
  random: Random,
  { country, device, page }: { country: Country; device: Device; page: ShopPage },
): Beacon {
  const { connectionType, slowness } = pickByWeight(random, CONNECTIONS)
  const roundTripMs = country.roundTripMs * slowness
  const errors = drawErrors(random, page)
  const input = drawInput(random, device)
  const cls = device.isChromium ? drawShift(random, page) : undefined
  return {
    path: page.path,
    deviceType: device.deviceType,
    ...(device.isChromium && { connectionType }),
    metrics: {
      ...drawNavigation(random, roundTripMs, page.lcpMs * device.slowness),
      ...input,
      ...(cls !== undefined && { cls }),
    },
    attribution: {
      lcp: page.largest,
      ...(input.inp !== undefined && pickByWeight(random, INTERACTIONS).attribution),
      ...(cls !== undefined && cls > 0 && { cls: pickByWeight(random, SHIFTED).cls }),
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

/** Browsers report INP in steps of 8 ms. */
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
  return random() < WITH_ERROR ? [pickByWeight(random, ERRORS).error] : []
}

const CHECKOUT_ERROR = {
  message: "Uncaught TypeError: Cannot read properties of undefined (reading 'total')",
  type: 'TypeError',
  source: 'https://cdn.example/checkout.js',
  line: 212,
  column: 31,
  stack: 'TypeError\n    at showTotal (https://cdn.example/checkout.js:212:31)',
}

const ERRORS: readonly { readonly weight: number; readonly error: Errors[number] }[] = [
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

/** Draws a log-normal time: like page times, often near the median, sometimes a multiple of it. */
function drawTime(random: Random, median: number, spread: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return roundTenth(median * Math.exp(spread * normal))
}

function roundTenth(value: number): number {
  return Math.round(value * 10) / 10
}
