import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import { NODE_COMMAND } from '../../scripts/parts/start-process.ts'
import { atRealTimePriority } from '../parts/machine.ts'
import type { Target } from '../parts/servers.ts'

const PROGRAM = fileURLToPath(new URL('look-ups.ts', import.meta.url))

/** Latencies in milliseconds from when a look-up was due. */
export type Latencies = v.InferOutput<typeof Latencies>

const Latencies = v.object({
  lookUps: v.number(),
  p50: v.number(),
  p99: v.number(),
  /** The 99.9th percentile. */
  p999: v.number(),
  longest: v.number(),
  failed: v.number(),
  /** How late the sending process itself woke up: its 99.9th percentile. */
  late: v.number(),
})

export interface SteadyOptions {
  /** A file of addresses, one per line. */
  readonly addresses: string
  readonly perSecond: number
}

/** Sends look-ups to the server at a steady rate, from a process of its own. */
export function startSteadyLookUps({ url, headers }: Target, options: SteadyOptions) {
  const settings = JSON.stringify({ url, headers, ...options })
  // Else it would have to wait for the threads of the server on the same core.
  const [program, ...args] = atRealTimePriority([...NODE_COMMAND, PROGRAM, settings])
  const child = spawn(program, args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The sender of look-ups ended with code ${code}`)
  })
  ended.catch(() => {})
  return {
    /** Forgets what was measured so far. */
    record: () => {
      child.send('record')
    },
    /** Stops sending, and resolves to what was measured. */
    report: async (): Promise<Latencies> => {
      child.send('report')
      const [message] = await Promise.race([once(child, 'message'), ended])
      return v.parse(Latencies, message)
    },
    [Symbol.asyncDispose]: async () => {
      child.kill()
      await ended.catch(() => {})
    },
  }
}
