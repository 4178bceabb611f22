/** How long requests took, by operation, method and status. */
export interface RequestTimes {
  /**
   * Adds a request that took `ms`. `route` is the pattern of a path, never a path; undefined: none of
   * ours. Called for every request, so it does little.
   */
  observe(route: string | undefined, method: string, status: number, ms: number): void
  /** A histogram in the text format of Prometheus, named after OpenTelemetry's conventions. */
  text(): string
}

const NAME = 'http_server_request_duration_seconds'
const HEAD = `# HELP ${NAME} Time until a request was answered.\n# TYPE ${NAME} histogram\n`

/** Those of OpenTelemetry but a few, and finer ones: most look-ups take less than 0.1 ms. */
const BOUNDS_MS = [
  0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000,
]
/** What callers may write is endless, and each method is a series of its own. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const OTHER = '_OTHER'

interface Series {
  readonly route: string
  readonly method: string
  readonly status: number
  /** By bucket; the last one has no bound. */
  readonly counts: Float64Array
  sumMs: number
}

/** Our own histogram: one observation of prom-client's takes longer than a look-up. */
export function createRequestTimes(): RequestTimes {
  const byRoute = new Map<string, Series[]>()
  return {
    observe: (route, method, status, ms) => {
      const series = findSeries(byRoute, route ?? OTHER, method, status)
      const bucket = bucketOf(ms)
      series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
      series.sumMs += ms
    },
    text: () => HEAD + [...byRoute.values()].flat().map(toText).join(''),
  }
}

function findSeries(
  byRoute: Map<string, Series[]>,
  route: string,
  givenMethod: string,
  status: number,
): Series {
  const method = METHODS.has(givenMethod) ? givenMethod : OTHER
  const ofRoute = byRoute.get(route) ?? []
  for (const series of ofRoute) {
    if (series.status === status && series.method === method) return series
  }
  const counts = new Float64Array(BOUNDS_MS.length + 1)
  const added = { route, method, status, counts, sumMs: 0 }
  byRoute.set(route, [...ofRoute, added])
  return added
}

function bucketOf(ms: number): number {
  let bucket = 0
  while (ms > (BOUNDS_MS[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1
  return bucket
}

/** Nothing in the labels needs escaping: patterns are ours, methods and statuses are of few. */
function toText({ route, method, status, counts, sumMs }: Series): string {
  const labels = `http_request_method="${method}",http_route="${route}",http_response_status_code="${status}"`
  let total = 0
  const buckets = [...counts].map((count, bucket) => {
    total += count
    const bound = BOUNDS_MS[bucket]
    const le = bound === undefined ? '+Inf' : bound / 1_000
    return `${NAME}_bucket{${labels},le="${le}"} ${total}\n`
  })
  const sum = `${NAME}_sum{${labels}} ${sumMs / 1_000}\n`
  return `${buckets.join('')}${sum}${NAME}_count{${labels}} ${total}\n`
}
