import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { geoFiles, makeGeoFolder } from '../geo-files.ts'
import { RUNTIME } from '../runtime.ts'

export type Settings = Readonly<Record<string, string>>

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a script of this repository to its end. */
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

export interface Running {
  readonly pid: number
  /** As the server prints it. */
  readonly url: string
  /** All that it has written so far. */
  output(): string
  /** Resolves when it, and all that wrote to its output, has ended. */
  readonly ended: Promise<Ended>
  /** Sends the signal to this very process and waits for its end. */
  stop(signal: NodeJS.Signals): Promise<Ended>
}

/** Starts the server, and waits until it says where it listens. */
export async function startServer(settings: Settings): Promise<Running> {
  return waitForUrl(start(['server.ts'], { PORT: '0', MERIDIAN_GEO_ATLAS: '0', ...settings }))
}

/** Waits until `child`, or a child of it, says where it listens. */
export async function waitForUrl(child: ChildProcess): Promise<Running> {
  const written = { stdout: '', stderr: '' }
  const address = Promise.withResolvers<string>()
  child.stdout?.on('data', (chunk) => {
    written.stdout += chunk
    const url = /^Meridian +(http:\S+)\n/m.exec(written.stdout)?.[1]
    if (url !== undefined) address.resolve(url)
  })
  child.stderr?.on('data', (chunk) => {
    written.stderr += chunk
  })
  const ended = closed(child).then(() => ({ code: child.exitCode, ...written }))
  child.once('close', () => {
    address.reject(new Error(`ended early: ${written.stdout}${written.stderr}`))
  })
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  const url = await address.promise
  assert.ok(child.pid)
  return { pid: child.pid, url, output: () => written.stdout, ended, stop }
}

function start(args: readonly string[], settings: Settings): ChildProcess {
  const { PATH = '', HOME = '' } = process.env
  const [program, ...options] = RUNTIME
  return spawn(program, [...options, ...args], { env: { PATH, HOME, ...settings } })
}

async function closed(child: ChildProcess): Promise<void> {
  await once(child, 'close')
}

/** Settings of a server with small databases in a new folder. */
export function newDataFolder() {
  const dataDir = mkdtempSync(join(tmpdir(), 'meridian-e2e-'))
  makeGeoFolder(dataDir)
  const { city, asn } = geoFiles()
  return {
    dataDir,
    settings: { MERIDIAN_DATA_DIR: dataDir, MERIDIAN_GEO: `${city},${asn}` },
    remove: () => rmSync(dataDir, { recursive: true, force: true }),
  }
}

/** What a server keeps: its database with all that lies beside it. */
export function storedBytes(dataDir: string): Buffer {
  const names = readdirSync(dataDir).filter((name) => name.startsWith('app.db'))
  return Buffer.concat(names.map((name) => readFileSync(join(dataDir, name))))
}
