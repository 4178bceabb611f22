import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** The command that runs one of our files on this Node. */
export const NODE_COMMAND = ['scripts/node.sh'] as const

export interface RunningProcess extends AsyncDisposable {
  readonly url: string
  readonly pid: number
}

export interface ProcessOptions {
  /** The folder of the file that receives the server's output. */
  readonly folder: string
  readonly command: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  /** Where the command listens; default: a free port, which the variable PORT contains. */
  readonly port?: number
}

const START_DEADLINE_MS = 120_000
const STOP_DEADLINE_MS = 20_000
const POLL_MS = 50
const FIRST_PORT = 10_000
/** By default Linux gives out ports from this one on; macOS has a higher one. */
const FIRST_GIVEN_PORT = 32_768

/** Starts a server and resolves once it listens. Ends it when it is disposed of. */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  const { folder, command, env = process.env, port = await findFreePort() } = options
  const [program = '', ...args] = command
  // The output goes to a file, because reading a pipe would take processor time from this process.
  const fd = openSync(join(folder, `${crypto.randomUUID()}.log`), 'w')
  const stdio = ['ignore', fd, 'inherit'] as const
  const child = spawn(program, args, { env: { ...env, PORT: String(port) }, stdio: [...stdio] })
  closeSync(fd)
  // A program that cannot be started has no pid, which is reported below.
  child.on('error', () => {})
  const stop = () => end(child)
  try {
    const { pid } = child
    if (pid === undefined) throw new Error(`Cannot start ${program}`)
    const url = `http://127.0.0.1:${port}`
    await waitForAnswer(child, url)
    return { url, pid, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Returns a free port of 127.0.0.1 that no program gets by asking the system for any port. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, FIRST_GIVEN_PORT)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

async function waitForAnswer(child: ChildProcess, url: string): Promise<void> {
  for (let waited = 0; !hasEnded(child) && waited < START_DEADLINE_MS; waited += POLL_MS) {
    if ((await fetch(url).catch(() => undefined)) !== undefined) return
    await wait(POLL_MS)
  }
  throw new Error(`${child.spawnargs.join(' ')} does not answer`)
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS)
  await ended
  clearTimeout(timer)
}

function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null
}
