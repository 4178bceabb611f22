import { type ChildProcess, fork } from 'node:child_process'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { SECOND_MS } from '../durations.ts'
import type { NodeReport, NodeStart, ParentMessage } from './parent-process.ts'

export interface NodeProcessesOptions {
  /** The file that calls `meetParent`. */
  readonly url: URL
  /** What each process gets. */
  readonly starts: readonly NodeStart[]
  /** Gets whole lines that a process has written to stdout. */
  readonly onLines: (lines: Uint8Array) => void
  /** Called if a process ends by itself. */
  readonly onCrash: (error: Error) => void
}

/** Further processes of a server, which run until this one stops them or ends. */
export type NodeProcesses = Awaited<ReturnType<typeof startNodeProcesses>>

/** Longer than an orderly stop takes: see docs/operations.md. */
const STOP_DEADLINE_MS = 25 * SECOND_MS

/** Resolves once all processes listen. Rejects with the reason if one cannot; then, none is left. */
export async function startNodeProcesses({ starts, ...options }: NodeProcessesOptions) {
  await using starting = new AsyncDisposableStack()
  const nodes = starts.map((start) => starting.use(startNode(start, options)))
  const urls = await Promise.all(nodes.map(({ listening }) => listening))
  const started = starting.move()
  return {
    /** The addresses for operators. */
    adminUrls: urls.filter((url) => url !== null),
    drain: (signal: string) => {
      for (const { send } of nodes) send({ drain: signal })
    },
    /** Resolves once all processes have ended. */
    stop: () => started.disposeAsync(),
  }
}

function startNode(
  start: NodeStart,
  { url, onLines, onCrash }: Omit<NodeProcessesOptions, 'starts'>,
) {
  // If this process is killed, its end of the channel closes.
  const child = fork(fileURLToPath(url), { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  if (child.stdout !== null) passOnLines(child.stdout, onLines)
  const listening = Promise.withResolvers<string | null>()
  const closed = Promise.withResolvers<void>()
  let isServing = false
  let isStopping = false
  const fail = (reason: unknown) =>
    listening.reject(new Error(`Cannot start node ${start.number}: ${reason}`))
  const send = (message: ParentMessage) => {
    // A process that has ended is reported below.
    child.send(message, () => {})
  }
  child.on('message', (report: NodeReport) => {
    if ('failure' in report) return fail(report.failure)
    isServing = true
    listening.resolve(report.adminUrl)
  })
  child.on('error', fail)
  // After all its lines are read.
  child.on('close', (code, signal) => {
    const end = `has ended with ${signal ?? code}`
    fail(`it ${end}`)
    closed.resolve()
    if (isServing && !isStopping) onCrash(new Error(`node ${start.number} ${end}`))
  })
  send({ start })
  return {
    listening: listening.promise,
    send,
    [Symbol.asyncDispose]: async () => {
      isStopping = true
      send({ stop: true })
      await waitOrKill(child, closed.promise)
    },
  }
}

/** Resolves once the process has ended. Kills it if that takes too long. */
async function waitOrKill(child: ChildProcess, closed: Promise<void>): Promise<void> {
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS)
  await closed
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
