import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { createHistogram } from 'node:perf_hooks'

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Statuses that are as they should be; 200 unless told. */
  readonly expected?: readonly number[]
}

/** What was asked since the last look. */
export interface Tally {
  readonly requests: number
  /** Answers with another status than the expected ones, or none. */
  readonly errors: number
  /** Milliseconds to the end of the answer, with what a request waits for a connection. */
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** Sends requests over up to 256 connections, and counts and times the answers. */
export interface Client extends Disposable {
  /** The text of the answer; undefined where it is not as expected. */
  send(call: Call): Promise<string | undefined>
  /** Requests that wait for their answer. */
  waiting(): number
  /** Counts from zero after it. */
  takeTally(): Tally
  /** What went wrong, each but once, up to twenty. */
  readonly problems: ReadonlySet<string>
}

const MOST_SOCKETS = 256
const TIME_LIMIT_MS = 30_000
const MOST_PROBLEMS = 20
const EXPECTED = [200]

export function createClient(origin: string): Client {
  const { hostname, port } = new URL(origin)
  const agent = new Agent({ keepAlive: true, maxSockets: MOST_SOCKETS, timeout: TIME_LIMIT_MS })
  const times = createHistogram()
  const problems = new Set<string>()
  let errors = 0
  let waiting = 0
  const fail = (problem: string) => {
    errors += 1
    if (problems.size < MOST_PROBLEMS) problems.add(problem)
  }
  return {
    problems,
    waiting: () => waiting,
    async send(call) {
      const { method, path, expected = EXPECTED } = call
      const startedAt = performance.now()
      waiting += 1
      const { status, text } = await exchange({ host: hostname, port, agent }, call)
      waiting -= 1
      times.record(Math.max(1, Math.round((performance.now() - startedAt) * 1_000)))
      if (typeof status === 'number' && expected.includes(status)) return text
      fail(`${method} ${path.replace(/\?.*/, '')}: ${status} ${text.slice(0, 200)}`)
      return undefined
    },
    takeTally() {
      const milliseconds = (share: number) => times.percentile(share) / 1_000
      const [p50, p99, max] = [milliseconds(50), milliseconds(99), times.max / 1_000]
      const tally = { requests: times.count, errors, p50, p99, max }
      times.reset()
      errors = 0
      return tally
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}

interface Answer {
  /** A text: what went wrong on the way. */
  readonly status: number | string
  readonly text: string
}

function exchange(server: RequestOptions, { body, ...call }: Call): Promise<Answer> {
  return new Promise((resolve) => {
    const fail = (error: Error) => resolve({ status: error.message, text: '' })
    const read = (answer: IncomingMessage) => {
      const chunks: Buffer[] = []
      answer.on('error', fail)
      answer.on('data', (chunk) => chunks.push(chunk))
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      )
    }
    const asked = request({ ...server, ...call, timeout: TIME_LIMIT_MS }, read)
    asked.on('error', fail)
    asked.on('timeout', () => asked.destroy(new Error('no answer in time')))
    asked.end(body)
  })
}
