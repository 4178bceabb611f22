import type { Metrics } from '../lib/parts/metrics/metrics.ts'
import type { Services } from '../lib/services/services.ts'
import type { Profile, ProfileKind } from './profiler.ts'

/** A request to the admin port. */
export interface AdminRequest {
  readonly method: string
  /** Path and query. */
  readonly target: string
  /** Aborted when the connection closes. */
  readonly signal: AbortSignal
}

export interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

interface Sources {
  readonly health: Services['health']
  readonly metrics: Metrics
  readonly profile: Profile
}

interface Route {
  readonly method: 'GET' | 'POST'
  readonly answer: (query: URLSearchParams, signal: AbortSignal) => Answer | Promise<Answer>
}

/** Returns the handler of the admin port, which serves none of the public API. */
export function createAnswer(sources: Sources): (request: AdminRequest) => Promise<Answer> {
  const routes = listRoutes(sources)
  return async ({ method, target, signal }) => {
    const [path = '', query] = target.split('?', 2)
    const route = routes.get(path)
    if (route === undefined)
      return text(404, `No such path; the paths are ${[...routes.keys()].join(', ')}`)
    const allowed = route.method === 'GET' ? ['GET', 'HEAD'] : ['POST']
    if (allowed.includes(method)) return route.answer(new URLSearchParams(query), signal)
    return { ...text(405, `${path} needs ${route.method}`), headers: { allow: allowed.join(', ') } }
  }
}

function listRoutes({ health, metrics, profile }: Sources): ReadonlyMap<string, Route> {
  return new Map<string, Route>([
    // Does not check the database: a restart does not help a process that waits for its disk.
    ['/livez', { method: 'GET', answer: () => text(200, 'ok') }],
    ['/readyz', { method: 'GET', answer: () => readHealth(health) }],
    ['/metrics', { method: 'GET', answer: () => readMetrics(metrics) }],
    ['/profile/cpu', { method: 'POST', answer: (...call) => makeProfile(profile, 'cpu', ...call) }],
    [
      '/profile/heap',
      { method: 'POST', answer: (...call) => makeProfile(profile, 'heap', ...call) },
    ],
  ])
}

/** Answers like `/health` of the API. */
async function readHealth(health: Services['health']): Promise<Answer> {
  const body = await health.read()
  return json(body.status === 'ok' ? 200 : 503, JSON.stringify(body))
}

async function readMetrics(metrics: Metrics): Promise<Answer> {
  return { status: 200, type: metrics.contentType, body: await metrics.text() }
}

const DEFAULT_SECONDS = '5'
const MAX_SECONDS = 60

async function makeProfile(
  profile: Profile,
  kind: ProfileKind,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<Answer> {
  const given = query.get('seconds') ?? DEFAULT_SECONDS
  const seconds = Number(given)
  if (!/^\d{1,2}$/.test(given) || seconds < 1 || seconds > MAX_SECONDS) {
    return text(400, `seconds must be a whole number from 1 to ${MAX_SECONDS}`)
  }
  const made = await profile(kind, seconds * 1_000, signal)
  if (made === 'busy') return text(409, 'Another profile is running')
  if (made === 'not-on-this-runtime') return text(501, `This runtime has no ${kind} profiles`)
  const headers = { 'content-disposition': `attachment; filename="meridian.${kind}profile"` }
  return { ...json(200, made.json), headers }
}

function text(status: number, line: string): Answer {
  return { status, type: 'text/plain; charset=utf-8', body: `${line}\n` }
}

function json(status: number, body: string): Answer {
  return { status, type: 'application/json', body }
}
