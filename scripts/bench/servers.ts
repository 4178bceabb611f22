import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { onServerCore } from './machine.ts'
import { writeNginxConfig } from './nginx.ts'
import { NODE, type Runtime } from './runtimes.ts'

/** A server under test. The address to look up is put behind `url`. */
export interface Target {
  readonly name: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly pid: number
  stop(): Promise<void>
}

export interface ServerOptions extends Pick<Target, 'name'>, Partial<Pick<Target, 'headers'>> {
  readonly command: readonly string[]
  /** What stands between its address and the one to look up. */
  readonly path: string
  readonly env?: NodeJS.ProcessEnv
  /** Where it listens; undefined: it prints that. */
  readonly url?: string
}

const START_DEADLINE_MS = 120_000
const ANSWER_DEADLINE_MS = 10_000
const STOP_DEADLINE_MS = 20_000
const POLL_MS = 50
const UNLIMITED = { monthlyCap: 1e12, maxKeys: 10, maxSites: 1, requestsPerMinute: 1e9 }

/** Starts Meridian as it comes, with a key of a plan that nothing limits and data of its own. */
export async function startMeridian(
  folder: string,
  geoFolder: string,
  settings: Readonly<Record<string, string>> = {},
  runtime: Runtime = NODE,
): Promise<Target> {
  const plans = join(folder, 'plans.json')
  writeFileSync(plans, JSON.stringify([{ id: 'free', name: 'Free', price: 0, ...UNLIMITED }]))
  mkdirSync(geoFolder, { recursive: true })
  symlinkSync(resolve(geoFolder), join(folder, 'geo'))
  const own = { MERIDIAN_DATA_DIR: folder, MERIDIAN_PLANS: plans, PORT: '0' }
  const env = { ...process.env, ...own, ...settings }
  const run = (...command: string[]) => {
    const [program, ...args] = runtime.command
    return execFileSync(program, [...args, ...command], { env, stdio: 'pipe' })
  }
  // The server would merge the databases in the middle of the measurement.
  run('scripts/geo.ts', '--atlas')
  const key = run('scripts/key.ts', '--email', 'bench@example.com', '--name', 'bench')
  const headers = { 'X-API-Key': key.toString().trim() }
  const command = [...runtime.command, 'server.ts']
  return startServer({ name: 'Meridian', command, path: '/v1/ip/', env, headers })
}

/** Starts the least that a JSON answer costs on the same runtime and server. */
export function startBare(runtime: Runtime = NODE): Promise<Target> {
  const command = [...runtime.command, 'scripts/bench/bare.ts']
  return startServer({ name: 'bare Hono', command, path: '/v1/ip/' })
}

/** Starts nginx with ngx_http_geoip2, which lies at `module`. */
export async function startNginx(
  folder: string,
  database: string,
  module: string,
): Promise<Target> {
  const { path, url } = await writeNginxConfig({ folder, module, database: resolve(database) })
  const command = ['nginx', '-p', folder, '-c', path, '-e', 'stderr']
  return startServer({ name: 'nginx', command, path: '/?ip=', url })
}

/** A server that refuses is fast: nothing is measured of one that limits us. */
export async function checkAnswer(target: Target): Promise<void> {
  const { status } = await askOnce(target)
  if (status !== 200) throw new Error(`${target.name} answered ${status} instead of 200`)
}

/** Looks up an address of the United States, on a connection of its own: others may have ended. */
export async function askOnce({ name, url, headers }: Target): Promise<Response> {
  try {
    return await fetch(`${url}8.8.8.8`, {
      headers: { ...headers, connection: 'close' },
      signal: AbortSignal.timeout(ANSWER_DEADLINE_MS),
    })
  } catch (cause) {
    throw new Error(`${name} does not answer`, { cause })
  }
}

/**
 * Starts a server on the core of servers, and returns when it answers. What it prints goes to a file:
 * who reads a pipe would take processor time from the load.
 */
export async function startServer(options: ServerOptions): Promise<Target> {
  const { name, command, path, env = process.env, headers = {}, url } = options
  const [program, ...args] = onServerCore(command)
  const output = new OutputFile()
  const child = spawn(program, args, { env, stdio: ['ignore', output.fd, 'inherit'] })
  const { pid } = child
  output.close()
  const end = () => stop(child).finally(() => output.remove())
  try {
    if (pid === undefined) throw new Error(`Cannot start ${name}`)
    const origin = url === undefined ? await readUrl(child, output) : await waitUntilUp(url)
    return { name, url: `${origin}${path}`, headers, pid, stop: end }
  } catch (error) {
    await end()
    throw error
  }
}

class OutputFile {
  readonly #folder = mkdtempSync(join(tmpdir(), 'meridian-bench-output-'))
  readonly #path = join(this.#folder, 'stdout')
  readonly fd = openSync(this.#path, 'w')

  read(): string {
    return readFileSync(this.#path, 'utf8')
  }

  /** The server has it by then. */
  close(): void {
    closeSync(this.fd)
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

async function stop(child: ChildProcess): Promise<void> {
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

/** Finds the address in what the server prints. */
async function readUrl(child: ChildProcess, output: OutputFile): Promise<string> {
  for (let waited = 0; !hasEnded(child) && waited < START_DEADLINE_MS; waited += POLL_MS) {
    const url = /(https?:\/\/\S+:\d+)\s/.exec(output.read())?.[1]
    if (url !== undefined) return url
    await wait(POLL_MS)
  }
  throw new Error('A server did not listen')
}

async function waitUntilUp(url: string): Promise<string> {
  for (let tries = 0; tries < 100; tries++) {
    const answer = await fetch(url).catch(() => undefined)
    if (answer !== undefined) return url
    await wait(POLL_MS)
  }
  throw new Error(`Cannot reach ${url}`)
}
