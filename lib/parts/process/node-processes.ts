import { type ChildProcess, fork } from 'node:child_process'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { SECOND_MS } from '../durations.ts'
import { reasonOf } from '../reason.ts'
import type { NodeReport, NodeStart, ParentMessage } from './parent-process.ts'

export interface NodeProcessesOptions {
  /** The file that calls `meetParent`. */
  readonly url: URL
  /** What each process gets. */
  readonly starts: readonly NodeStart[]
  /** Gets whole lines that a process has written to stdout. */
  readonly onLines: (lines: Uint8Array) => void
  /** Called if a process ends by itself, or cannot be started again. Two seconds later it is started again. */
  readonly onEnd: (error: Error) => void
}

type NodeOptions = Omit<NodeProcessesOptions, 'starts'>

/** Further processes of a server, which run until this one stops them or ends. */
export type NodeProcesses = Awaited<ReturnType<typeof startNodeProcesses>>

/** Longer than an orderly stop takes: see docs/operations.md. */
const STOP_DEADLINE_MS = 25 * SECOND_MS

/** While PostgreSQL is away, a process cannot be started. */
const START_AGAIN_AFTER_MS = 2 * SECOND_MS

/** Resolves once all processes listen. Rejects with the reason if one cannot; then, none is left. */
export async function startNodeProcesses({ starts, ...options }: NodeProcessesOptions) {
  await using starting = new AsyncDisposableStack()
  const nodes = starts.map((start) => starting.use(startNode(start, options)))
  const urls = await Promise.all(nodes.map(({ listening }) => listening))
  starting.move()
  const kept = nodes.map((node, at) => keepRunning(node, urls[at] ?? null, options))
  return {
    /** The addresses for operators. */
    adminUrls: urls.filter((url) => url !== null),
    drain: (signal: string) => {
      for (const { drain } of kept) drain(signal)
    },
    /** Resolves once all processes have ended. */
    stop: async () => {
      await Promise.all(kept.map(({ stop }) => stop()))
    },
  }
}

/** Starts another process whenever this one ends, on the same ports, until it is drained or stopped. */
function keepRunning(first: NodeProcess, adminUrl: string | null, options: NodeOptions) {
  const adminPort = adminUrl === null ? undefined : Number(new URL(adminUrl).port)
  const start = { ...first.start, adminPort }
  const leaving = new AbortController()
  let node = first
  const keep = async () => {
    let reason = await node.ended
    while (!leaving.signal.aborted) {
      options.onEnd(new Error(`node ${start.number}: ${reason}`))
      const { signal } = leaving
      await sleep(START_AGAIN_AFTER_MS, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      try {
        node = startNode(start, options)
        reason = await node.ended
      } catch (error) {
        // The system has no memory for a process.
        reason = reasonOf(error)
      }
    }
  }
  const keeping = keep()
  return {
    drain: (signal: string) => {
      leaving.abort()
      node.send({ drain: signal })
    },
    stop: async () => {
      leaving.abort()
      await node[Symbol.asyncDispose]()
      await keeping
    },
  }
}

type NodeProcess = ReturnType<typeof startNode>

function startNode(start: NodeStart, { url, onLines }: NodeOptions) {
  // If this process is killed, its end of the channel closes.
  const child = fork(fileURLToPath(url), { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  const listening = Promise.withResolvers<string | null>()
  // On a restart nobody awaits this promise, so its rejection must be handled here.
  listening.promise.catch(() => {})
  const ended = Promise.withResolvers<string>()
  let failure: string | undefined
  const end = (reason: string) => {
    listening.reject(new Error(`Cannot start node ${start.number}: ${reason}`))
    ended.resolve(reason)
  }
  const send = (message: ParentMessage) => {
    // A process that has ended is reported below. One that could not be started has no channel.
    if (child.connected) child.send(message, () => {})
  }
  child.on('message', (report: NodeReport) => {
    if ('failure' in report) failure = report.failure
    else listening.resolve(report.adminUrl)
  })
  child.on('error', (error) => {
    // The system could not start it, perhaps for lack of memory or files.
    if (child.pid === undefined) end(reasonOf(error))
  })
  // stdout is undefined if the process could not be started.
  if (child.stdout) passOnLines(child.stdout, onLines)
  // After all its lines are read.
  child.on('close', (code, signal) => end(failure ?? `it has ended with ${signal ?? code}`))
  send({ start })
  return {
    start,
    /** Its address for operators. */
    listening: listening.promise,
    /** Why it has ended. */
    ended: ended.promise,
    send,
    [Symbol.asyncDispose]: async () => {
      send({ stop: true })
      await waitOrKill(child, ended.promise)
    },
  }
}

/** Resolves once the process has ended. Kills it if that takes too long. */
async function waitOrKill(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS)
  await ended
  clearTimeout(timer)
}

const NEWLINE = 10

/** Passes on whole lines. The beginning of a line at the end of a chunk waits for the next chunk. */
function passOnLines(stream: Readable, write: (lines: Uint8Array) => void): void {
  let rest = Buffer.alloc(0)
  stream.on('data', (chunk: Buffer) => {
    const all = Buffer.concat([rest, chunk])
    const end = all.lastIndexOf(NEWLINE) + 1
    if (end > 0) write(all.subarray(0, end))
    rest = all.subarray(end)
  })
}
