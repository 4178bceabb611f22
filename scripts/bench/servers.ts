import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { machine, onServerCore } from './machine.ts'
import { writeNginxConfig } from './nginx.ts'

/** A server under test. The address to look up is put behind `url`. */
export interface Target {
  readonly name: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly pid: number
  stop(): Promise<void>
}

const NODE = [process.execPath, '--import', 'tsx']
const UNLIMITED = { monthlyCap: 1e12, maxKeys: 10, maxSites: 1, requestsPerMinute: 1e9 }

/** Starts Meridian as it comes, with a key of a plan that nothing limits and data of its own. */
export async function startMeridian(
  folder: string,
  geoFolder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Target> {
  const plans = join(folder, 'plans.json')
  writeFileSync(plans, JSON.stringify([{ id: 'free', name: 'Free', price: 0, ...UNLIMITED }]))
  mkdirSync(geoFolder, { recursive: true })
  symlinkSync(resolve(geoFolder), join(folder, 'geo'))
  const own = { MERIDIAN_DATA_DIR: folder, MERIDIAN_PLANS: plans, PORT: '0' }
  const env = { ...process.env, ...own, ...settings }
  const command = [...NODE, 'scripts/key.ts', '--email', 'bench@example.com', '--name', 'bench']
  // The server would merge the databases in the middle of the measurement.
  execFileSync(process.execPath, [...NODE.slice(1), 'scripts/geo.ts', '--atlas'], {
    env,
    stdio: 'pipe',
  })
  const key = execFileSync(process.execPath, command.slice(1), { env, stdio: 'pipe' })
  const headers = { 'X-API-Key': key.toString().trim() }
  const child = start([...NODE, 'server.ts'], env)
  const url = await readUrl(child)
  return target('Meridian', `${url}/v1/ip/`, child, headers)
}

/** Starts the least that a JSON answer costs on the same runtime and server. */
export async function startBare(): Promise<Target> {
  const child = start([...NODE, 'scripts/bench/bare.ts'], process.env)
  return target('bare Hono', `${await readUrl(child)}/v1/ip/`, child)
}

/** Starts nginx with ngx_http_geoip2, if it is here. */
export async function startNginx(folder: string, database: string): Promise<Target | undefined> {
  const module = machine.nginxModule
  if (module === undefined) return undefined
  const { path, url } = await writeNginxConfig({ folder, module, database: resolve(database) })
  const child = start(['nginx', '-p', folder, '-c', path, '-e', 'stderr'], process.env)
  await waitUntilUp(url)
  return target('nginx', `${url}/?ip=`, child)
}

function start(command: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const [program, ...args] = onServerCore(command)
  return spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
}

function target(
  name: string,
  url: string,
  child: ChildProcess,
  headers: Target['headers'] = {},
): Target {
  const { pid } = child
  if (pid === undefined) throw new Error(`Cannot start ${name}`)
  return { name, url, headers, pid, stop: () => stop(child) }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

/** Finds the address in what the server prints, and lets the rest of its output pass. */
async function readUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('Cannot read what the server prints')
  const lines = createInterface(child.stdout)
  for await (const line of lines) {
    const url = /https?:\/\/\S+:\d+/.exec(line)?.[0]
    if (url === undefined) continue
    lines.close()
    child.stdout.resume()
    return url
  }
  throw new Error('A server ended before it listened')
}

async function waitUntilUp(url: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const answer = await fetch(url).catch(() => undefined)
    if (answer !== undefined) return
    await wait(50)
  }
  throw new Error(`Cannot reach ${url}`)
}
