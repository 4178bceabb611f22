export type RequestTimes = ReturnType<typeof createRequestTimes>

const NAME = 'http_server_request_duration_seconds'
const HEAD = `# HELP ${NAME} Time until a request was answered.\n# TYPE ${NAME} histogram\n`

/** Most of OpenTelemetry's bounds, plus finer ones: most look-ups take less than 0.1 ms. */
const BOUNDS_MS = [
  0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000,
]
/** Other methods share one series, since callers may invent any number of them. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const OTHER = '_OTHER'

/** Requests to an operation with one method and status. */
interface Series {
  readonly route: string
  readonly method: string
  readonly status: number
  /** By bucket; the last bucket has no bound. */
  readonly counts: Float64Array
  sumMs: number
}

/**
 * A histogram of the time that requests took, by operation, method and status. It is our own, since
 * one observation of prom-client takes longer than a look-up.
 */
export function createRequestTimes() {
  const byRoute = new Map<string, Series[]>()
  return {
    /**
     * Adds a request that took `ms`. `route` is the pattern of a path, never a path, and undefined
     * for unknown paths. Called for every request, so it must be quick.
     */
    observe: (route: string | undefined, method: string, status: number, ms: number) => {
      const series = findSeries(byRoute, route ?? OTHER, method, status)
      const bucket = bucketOf(ms)
      series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
      series.sumMs += ms
    },
    /** Returns a histogram in the text format of Prometheus, with OpenTelemetry's names. */
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

/** The labels need no escaping: patterns are ours, and methods and statuses are from fixed sets. */
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
