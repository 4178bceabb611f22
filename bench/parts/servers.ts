import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  NODE_COMMAND,
  type ProcessOptions,
  type RunningProcess,
  startProcess,
} from '../../scripts/parts/start-process.ts'
import { moveToLoadCore, onServerCore } from './machine.ts'

/** A JavaScript runtime and the command that runs one of our files on it. */
export interface Runtime {
  readonly name: string
  readonly command: readonly [program: string, ...args: string[]]
}

export const NODE: Runtime = { name: 'Node', command: NODE_COMMAND }

/** All runtimes that the server supports. Deno and Bun are looked up on the PATH. */
export const RUNTIMES: readonly Runtime[] = [
  NODE,
  { name: 'Deno', command: ['deno', 'run', '--allow-all'] },
  { name: 'Bun', command: ['bun', 'run'] },
]

/** A running server. The address to look up is appended to `url`. */
export interface Target extends RunningProcess {
  readonly headers: Readonly<Record<string, string>>
}

interface ServerOptions extends ProcessOptions {
  /** The path in front of the address to look up. */
  readonly path: string
  readonly headers?: Target['headers']
}

const ANSWER_DEADLINE_MS = 10_000

/** No benchmark reaches the limits of these plans. */
const UNLIMITED = { monthlyCap: 1e12, maxKeys: 10, maxSites: 1, requestsPerMinute: 1e9 }
export const PLANS = [
  { id: 'free', name: 'Free', price: 0, ...UNLIMITED },
  { id: 'pro', name: 'Pro', price: 29, ...UNLIMITED },
  { id: 'pro-600', name: 'Pro', price: 29, ...UNLIMITED, requestsPerMinute: 600 },
  { id: 'starter-120', name: 'Starter', price: 9, ...UNLIMITED, requestsPerMinute: 120 },
]

/** Starts Meridian with its data in `folder` and a key of an unlimited plan. */
export function startMeridian(...options: Parameters<typeof prepareMeridian>): Promise<Target> {
  return startServer(prepareMeridian(...options))
}

/** Prepares the data of a server in `folder`, with a key of an unlimited plan. */
export function prepareMeridian(
  folder: string,
  geoFolder: string,
  settings: Readonly<Record<string, string>> = {},
  runtime: Runtime = NODE,
) {
  const plans = join(folder, 'plans.json')
  writeFileSync(plans, JSON.stringify(PLANS))
  mkdirSync(geoFolder, { recursive: true })
  symlinkSync(resolve(geoFolder), join(folder, 'geo'))
  const own = { MERIDIAN_DATA_DIR: folder, MERIDIAN_PLANS: plans }
  const env = { ...process.env, ...own, ...settings }
  const run = (...command: string[]) => {
    const [program, ...args] = runtime.command
    return execFileSync(program, [...args, ...command], { env, stdio: 'pipe' })
  }
  // Builds the atlas now, so that the server does not build it during the measurement.
  run('scripts/geo.ts', '--atlas')
  const owner = ['--email', 'bench@example.com', '--name', 'bench']
  const key = run('scripts/key.ts', ...owner, '--scopes', 'all')
  const headers = { 'X-API-Key': key.toString().trim() }
  const command = [...runtime.command, 'server.ts']
  return { folder, command, path: '/v1/ip/', env, headers }
}

/** Throws unless a look-up is answered with 200, because a server that refuses would look fast. */
export async function checkAnswer({ url, headers }: Target): Promise<string> {
  const answer = await fetch(`${url}8.8.8.8`, {
    headers: { ...headers, connection: 'close' },
    signal: AbortSignal.timeout(ANSWER_DEADLINE_MS),
  })
  if (answer.status === 200) return answer.text()
  throw new Error(`${url} answered ${answer.status} instead of 200`)
}

/** Starts a server on the servers' core, which this process leaves. Resolves once it listens. */
export async function startServer(options: ServerOptions): Promise<Target> {
  const { command, path, headers = {}, ...rest } = options
  moveToLoadCore()
  const server = await startProcess({ ...rest, command: onServerCore(command) })
  return { ...server, url: `${server.url}${path}`, headers }
}
