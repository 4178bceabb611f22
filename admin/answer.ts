import type { Metrics } from '../lib/metrics/metrics.ts'
import type { Services } from '../lib/services/services.ts'
import type { Profile, ProfileKind } from './profiler.ts'

/** What the admin port is asked. */
export interface Question {
  readonly method: string
  /** With the query. */
  readonly target: string
  /** Ends with the connection, and with the process. */
  readonly signal: AbortSignal
}

export interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Asked {
  readonly services: Pick<Services, 'health'>
  readonly metrics: Metrics
  readonly profile: Profile
}

interface Row {
  readonly method: 'GET' | 'POST'
  readonly answer: (query: URLSearchParams, signal: AbortSignal) => Answer | Promise<Answer>
}

/** Answers operators, by a table of its own: nothing of the interface for users is here. */
export function createAnswer(asked: Asked): (question: Question) => Promise<Answer> {
  const rows = listRows(asked)
  return async ({ method, target, signal }) => {
    const [path = '', query] = target.split('?', 2)
    const row = rows.get(path)
    if (row === undefined)
      return text(404, `No such path; there are ${[...rows.keys()].join(', ')}`)
    const allowed = row.method === 'GET' ? ['GET', 'HEAD'] : ['POST']
    if (allowed.includes(method)) return row.answer(new URLSearchParams(query), signal)
    return { ...text(405, `${path} takes ${row.method}`), headers: { allow: allowed.join(', ') } }
  }
}

function listRows({ services, metrics, profile }: Asked): ReadonlyMap<string, Row> {
  return new Map<string, Row>([
    // No look at the database: a process that waits for its disk is not helped by a restart.
    ['/livez', { method: 'GET', answer: () => text(200, 'ok') }],
    ['/readyz', { method: 'GET', answer: () => tellHealth(services) }],
    ['/metrics', { method: 'GET', answer: () => tellMetrics(metrics) }],
    [
      '/profile/cpu',
      { method: 'POST', answer: (...asked) => makeProfile(profile, 'cpu', ...asked) },
    ],
    [
      '/profile/heap',
      { method: 'POST', answer: (...asked) => makeProfile(profile, 'heap', ...asked) },
    ],
  ])
}

/** As `/health` of the interface. */
function tellHealth({ health }: Asked['services']): Answer {
  const body = health.read()
  return json(body.status === 'ok' ? 200 : 503, JSON.stringify(body))
}

async function tellMetrics(metrics: Metrics): Promise<Answer> {
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
    return text(400, `seconds must be a number from 1 to ${MAX_SECONDS}`)
  }
  const made = await profile(kind, seconds * 1_000, signal)
  if (made === 'busy') return text(409, 'Another profile is being made')
  if (made === 'not-on-this-runtime')
    return text(501, `There is no ${kind} profile on this runtime`)
  const headers = { 'content-disposition': `attachment; filename="meridian.${kind}profile"` }
  return { ...json(200, made.json), headers }
}

function text(status: number, line: string): Answer {
  return { status, type: 'text/plain; charset=utf-8', body: `${line}\n` }
}

function json(status: number, body: string): Answer {
  return { status, type: 'application/json', body }
}
