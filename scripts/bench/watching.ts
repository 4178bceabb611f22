import { createRequestTimes } from '../../lib/metrics/request-times.ts'
import { parseTraceparent } from '../../lib/trace-context.ts'
import { createRandom } from '../random.ts'
import { markdownTable, median } from './table.ts'

const TIMES = 2_000_000
const PASSES = 5
const ROUTES = ['/v1/ip/{ipAddress}', '/v1/ip/{ipAddress}/timezone', '/v1/telemetry/rum', '/v1']
const STATUSES = [200, 404, 429]
const HEADERS: Readonly<Record<string, string | undefined>> = {
  host: '127.0.0.1:8787',
  'user-agent': 'bench',
  'x-api-key': 'a key',
}
const TRACEPARENT = `00-${'4b'.repeat(16)}-${'0f'.repeat(8)}-01`

/** Measures what watching adds to each request. Returns a table. */
export function benchWatching(): string {
  const rows: [string, () => number][] = [
    ['time one request', timeObserving],
    ['read a header that is not there', () => timeReading(HEADERS)],
    ['read the ids of a trace', () => timeReading({ ...HEADERS, traceparent: TRACEPARENT })],
    ['write Server-Timing', timeWriting],
  ]
  return markdownTable(
    ['', 'ns per request'],
    rows.map(([name, measure]) => [name, median(Array.from({ length: PASSES }, measure))]),
  )
}

function timeObserving(): number {
  const random = createRandom(1)
  const requests = Array.from({ length: 4_096 }, () => ({
    route: pick(ROUTES, random()),
    status: pick(STATUSES, random()),
    ms: random() * 0.2,
  }))
  const { observe } = createRequestTimes()
  return nanoseconds((n) => {
    const { route, status, ms } = requests[n & 4_095] ?? { route: '', status: 0, ms: 0 }
    observe(route, 'GET', status, ms)
    return ms
  })
}

function timeReading(headers: Readonly<Record<string, string | undefined>>): number {
  return nanoseconds(() => {
    const text = headers['traceparent']
    return text === undefined ? 0 : (parseTraceparent(text)?.traceId.length ?? 0)
  })
}

function timeWriting(): number {
  const startedAt = performance.now()
  return nanoseconds(() => `total;dur=${(performance.now() - startedAt).toFixed(1)}`.length)
}

function pick<Value>(values: readonly Value[], at: number): Value {
  const value = values[Math.floor(at * values.length)]
  if (value === undefined) throw new Error('Cannot measure: nothing to pick from')
  return value
}

function nanoseconds(work: (n: number) => number): number {
  let sum = 0
  const startedAt = performance.now()
  for (let n = 0; n < TIMES; n++) sum += work(n)
  const took = performance.now() - startedAt
  if (!Number.isFinite(sum)) throw new Error('Cannot measure: nothing was done')
  return (took * 1e6) / TIMES
}
