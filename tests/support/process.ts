import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { geoFiles, makeGeoFolder } from './geo-files.ts'
import { inherited, RUNTIME } from './runtime.ts'

export type Settings = Readonly<Record<string, string>>

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a script of this repository and waits until it ends. */
export async function runScript(args: readonly string[], settings: Settings): Promise<Ended> {
  const child = start(args, settings)
  assert.ok(child.stdout && child.stderr)
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    closed(child),
  ])
  return { code: child.exitCode, stdout, stderr }
}

/** Makes a key, as `npm run key` does with these options. */
export async function addKey(
  settings: Settings,
  email = 'ada@example.com',
  ...options: readonly string[]
): Promise<string> {
  const args = ['scripts/key.ts', '--email', email, '--name', 'test', ...options]
  const { code, stdout, stderr } = await runScript(args, settings)
  assert.equal(code, 0, stderr)
  return stdout.trim()
}

export interface Running {
  readonly pid: number
  /** The URL that the server prints. */
  readonly url: string
  /** Everything it has written to stdout so far. */
  output(): string
  /** Resolves when the process and all writers to its output have ended. */
  readonly ended: Promise<Ended>
  /** Sends the signal to the process and waits until it ends. */
  stop(signal: NodeJS.Signals): Promise<Ended>
}

/** The private memory of the process in bytes: its anonymous pages. Needs Linux. */
export function privateMemory({ pid }: Pick<Running, 'pid'>): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1]) * 1024
}

/** Starts the server of the release in `folder` and waits until it prints its URL. */
export async function startServer(settings: Settings, folder = '.'): Promise<Running> {
  const environment = { PORT: '0', MERIDIAN_GEO_ATLAS: '0', ...settings }
  return waitForUrl(start(['server.ts'], environment, folder))
}

/** Waits until the server is healthy: a busy disk may delay the write of its check for too long. */
export async function untilHealthy({ url }: Pick<Running, 'url'>): Promise<void> {
  while ((await fetch(`${url}/health`)).status !== 200) await sleep(100)
}

/** Waits until `child`, or one of its children, prints its URL. */
export async function waitForUrl(child: ChildProcess): Promise<Running> {
  const written = { stdout: '', stderr: '' }
  const address = Promise.withResolvers<string>()
  child.stdout?.on('data', (chunk) => {
    written.stdout += chunk
  })
  // Only until the URL is found: under load the log becomes long.
  child.stdout?.on('data', function findUrl() {
    const url = /^Meridian +(http:\S+)\n/m.exec(written.stdout)?.[1]
    if (url === undefined) return
    address.resolve(url)
    child.stdout?.off('data', findUrl)
  })
  child.stderr?.on('data', (chunk) => {
    written.stderr += chunk
  })
  const ended = closed(child).then(() => ({ code: child.exitCode, ...written }))
  child.once('close', (code, signal) => {
    const output = `${written.stdout}${written.stderr}`
    address.reject(new Error(`ended early with ${signal ?? code}: ${output}`))
  })
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  const url = await address.promise
  assert.ok(child.pid)
  return { pid: child.pid, url, output: () => written.stdout, ended, stop }
}

function start(args: readonly string[], settings: Settings, cwd = '.'): ChildProcess {
  const [program, ...options] = RUNTIME
  return spawn(program, [...options, ...args], { cwd, env: { ...inherited(), ...settings } })
}

async function closed(child: ChildProcess): Promise<void> {
  await once(child, 'close')
}

/** Creates a data folder and the settings of a server with small databases. */
export function newDataFolder() {
  const dataDir = mkdtempSync(join(tmpdir(), 'meridian-data-'))
  makeGeoFolder(dataDir)
  const { city, asn } = geoFiles()
  return {
    dataDir,
    settings: { MERIDIAN_DATA_DIR: dataDir, MERIDIAN_GEO: `${city},${asn}` },
    remove: () => rmSync(dataDir, { recursive: true, force: true }),
  }
}

/** The bytes of the database file, its log and its shared memory. */
export function storedBytes(dataDir: string): Buffer {
  const names = readdirSync(dataDir).filter((name) => name.startsWith('app.db'))
  return Buffer.concat(names.map((name) => readFileSync(join(dataDir, name))))
}
