import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import autocannon from 'autocannon'
import { machine } from './machine.ts'
import type { Target } from './servers.ts'

export interface LoadOptions {
  readonly seconds: number
  readonly addresses: readonly string[]
  /** File with the same addresses, one on each line. */
  readonly addressFile: string
  /** Where in the addresses to begin. */
  readonly offset: number
}

export interface KeyedOptions extends LoadOptions {
  readonly connections: number
  /** File with the keys to ask with in turn, one on each line. */
  readonly keyFile: string
  /** Requests in a second, about; undefined: as fast as it answers. */
  readonly rate: number | undefined
}

export interface LoadResult {
  readonly requests: number
  readonly seconds: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Requests without an answer. */
  readonly failed: number
}

const CONNECTIONS = 64
/** Beacons come from many pages at once. */
const BEACON_CONNECTIONS = 256
const BATCH_CONNECTIONS = 8
/** Of the scripts, which load another one from there. */
const FOLDER = fileURLToPath(new URL('.', import.meta.url))

/** Asks `target` over 64 connections as fast as it answers. */
export function load(target: Target, options: LoadOptions): Promise<LoadResult> {
  return machine.hasWrk ? loadWithWrk(target, options) : loadWithAutocannon(target, options)
}

/** Asks with many keys, at a given rate or as fast as `target` answers. Throws without wrk. */
export function loadWithKeys(target: Target, options: KeyedOptions): Promise<LoadResult> {
  if (!machine.hasWrk) throw new Error('Cannot ask with many keys: wrk is missing')
  const { origin, pathname } = new URL(target.url)
  const { connections, addressFile, offset, keyFile, rate, seconds } = options
  const pauseMs = rate === undefined ? 0 : (connections * 1_000) / rate
  const limits = ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', 'load.lua', origin]
  return runWrk([...limits, '--', addressFile, pathname, `${offset}`, keyFile, `${pauseMs}`])
}

async function loadWithWrk(target: Target, options: LoadOptions): Promise<LoadResult> {
  const { origin, pathname, search } = new URL(target.url)
  const headers = Object.entries(target.headers).flatMap(([name, text]) => [
    '-H',
    `${name}: ${text}`,
  ])
  const limits = ['-t1', `-c${CONNECTIONS}`, `-d${options.seconds}s`, ...headers]
  const own = ['--', options.addressFile, pathname + search, String(options.offset)]
  return runWrk([...limits, '-s', 'load.lua', origin, ...own])
}

/** Sends the addresses of `file` in batches of 1,000. Throws where there is no wrk. */
export function loadBatches(target: Target, file: string, seconds: number): Promise<LoadResult> {
  if (!machine.hasWrk) throw new Error('Cannot send batches: wrk is missing')
  const { origin, pathname } = new URL(target.url)
  const headers = Object.entries(target.headers).flatMap(([name, text]) => [
    '-H',
    `${name}: ${text}`,
  ])
  const limits = ['-t1', `-c${BATCH_CONNECTIONS}`, `-d${seconds}s`, ...headers]
  return runWrk([...limits, '-s', 'batch.lua', origin, '--', file, `${pathname}batch`])
}

/** Sends beacons to the server at `url`. Throws where there is no wrk. */
export function loadBeacons(url: string, seconds: number): Promise<LoadResult> {
  if (!machine.hasWrk) throw new Error('Cannot send beacons: wrk is missing')
  const limits = ['-t1', `-c${BEACON_CONNECTIONS}`, `-d${seconds}s`]
  return runWrk([...limits, '-s', 'beacon.lua', url, '--', '/v1/telemetry/rum'])
}

async function runWrk(args: readonly string[]): Promise<LoadResult> {
  const { stdout } = await promisify(execFile)('wrk', args, { cwd: FOLDER })
  const result = /^RESULT (.*)$/m.exec(stdout)?.[1]
  if (result === undefined) throw new Error(`Cannot read what wrk says: ${stdout}`)
  return JSON.parse(result)
}

async function loadWithAutocannon(target: Target, options: LoadOptions): Promise<LoadResult> {
  const { origin, pathname, search } = new URL(target.url)
  const { addresses, seconds } = options
  let at = options.offset
  const nextPath = () => `${pathname}${search}${addresses[at++ % addresses.length]}`
  const result = await autocannon({
    url: origin,
    connections: CONNECTIONS,
    duration: seconds,
    headers: target.headers,
    requests: [{ setupRequest: (request) => ({ ...request, path: nextPath() }) }],
  })
  return {
    requests: result.requests.total,
    seconds: result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    failed: result.errors + result.timeouts,
  }
}
