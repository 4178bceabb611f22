import { once } from 'node:events'
import { Agent, type RequestOptions, request } from 'node:http'
import { createHistogram } from 'node:perf_hooks'
import { text } from 'node:stream/consumers'
import { reasonOf } from '../../lib/parts/reason.ts'
import { cpuMicroseconds } from '../parts/machine.ts'
import type { Target } from '../parts/servers.ts'

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Statuses that count as success; default: 200. */
  readonly expected?: readonly number[]
}

export type Client = ReturnType<typeof createClient>

const MAX_SOCKETS = 256
const TIMEOUT_MS = 30_000
const MAX_PROBLEMS = 20

/** Sends requests over up to 256 connections, and measures the answers. */
export function createClient({ url, pid }: Target) {
  const { hostname: host, port } = new URL(url)
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS, timeout: TIMEOUT_MS })
  /** In microseconds. */
  const times = createHistogram()
  /** Distinct error messages. */
  const problems = new Set<string>()
  let cpuBefore = cpuMicroseconds(pid)
  let errors = 0
  let waiting = 0
  return {
    problems,
    /** The number of requests without an answer so far. */
    waiting: () => waiting,
    /** Returns the body, or undefined if the status is not an expected one. */
    async send(call: Call): Promise<string | undefined> {
      const { method, path, expected = [200] } = call
      const startedAt = performance.now()
      waiting += 1
      const { status, body } = await exchange({ host, port, agent }, call)
      waiting -= 1
      const time = Math.max(1, Math.round((performance.now() - startedAt) * 1_000))
      times.record(time)
      if (typeof status === 'number' && expected.includes(status)) return body
      errors += 1
      const problem = `${method} ${path.replace(/\?.*/, '')}: ${status} ${body.slice(0, 200)}`
      if (problems.size < MAX_PROBLEMS) problems.add(problem)
      return undefined
    },
    /**
     * Returns the figures since the last call. An error is a request without an answer or with an
     * unexpected status. Times are to the end of the answer, and include the wait for a connection.
     * CPU is the processor time of the server.
     */
    takeTally() {
      const tally = {
        requests: times.count,
        errors,
        'p50 ms': times.percentile(50) / 1_000,
        'p99 ms': times.percentile(99) / 1_000,
        'max ms': times.max / 1_000,
        'CPU µs/request': (cpuMicroseconds(pid) - cpuBefore) / times.count,
      }
      cpuBefore = cpuMicroseconds(pid)
      times.reset()
      errors = 0
      return tally
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}

/** Returns the status and the body, or the message of a network error instead of the status. */
async function exchange(server: RequestOptions, { body, ...call }: Call) {
  const sent = request({ ...server, ...call, timeout: TIMEOUT_MS })
  // Reading the answer also reports an error that occurs after the response has begun.
  sent.on('error', () => {})
  sent.on('timeout', () => sent.destroy(new Error('no answer in time')))
  sent.end(body)
  try {
    const [answer] = await once(sent, 'response')
    return { status: Number(answer.statusCode), body: await text(answer) }
  } catch (error) {
    return { status: reasonOf(error), body: '' }
  }
}
