import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { cpuMicroseconds, firstThreadMicroseconds, hasCommand, memoryMegabytes } from './machine.ts'
import { median } from './median.ts'
import type { BenchOptions } from './options.ts'
import { checkAnswer, type Target } from './servers.ts'

export interface Load {
  /** Default: 64. */
  readonly connections?: number
  /** Named arguments of the script, which are explained at its top. */
  readonly args: Readonly<Record<string, string | number>>
}

/**
 * Figures of a run, by the titles of their columns. The processor time (but for the load's) and the memory are
 * the server's, and NaN if the system does not report them. `failed` counts requests without an answer and,
 * with POSTs or beacons, refused ones.
 */
type Measured = Awaited<ReturnType<typeof drive>>

/** After this long, a server's code is compiled and its caches are filled. */
export const WARM_UP_SECONDS = 3
/** Addresses that a later round skips, so that it does not repeat those of the round before. */
const OFFSET_PER_ROUND = 200_000
const SCRIPT = fileURLToPath(new URL('load.lua', import.meta.url))

/**
 * Warms up every server, then drives one after another, round by round. Returns the trials with their
 * medians. Throws if a server no longer answers look-ups.
 */
export async function driveInRounds<Trial extends { readonly target: Target; readonly load: Load }>(
  trials: readonly Trial[],
  { rounds, seconds }: Pick<BenchOptions, 'rounds' | 'seconds'>,
): Promise<(Trial & { readonly measured: Measured })[]> {
  const runs = trials.map((): Measured[] => [])
  for (const { target, load } of trials) await drive(target, load, WARM_UP_SECONDS)
  for (let round = 0; round < rounds; round++) {
    const offset = round * OFFSET_PER_ROUND
    for (const [at, { target, load }] of trials.entries()) {
      runs[at]?.push(await drive(target, { ...load, args: { ...load.args, offset } }, seconds))
    }
  }
  for (const { target } of trials) await checkAnswer(target)
  return trials.map((trial, at) => ({ ...trial, measured: medianOf(runs[at] ?? []) }))
}

/** Drives the server with wrk. */
export async function drive(
  { url, headers, pid }: Target,
  { connections = 64, args }: Load,
  seconds: number,
) {
  if (!hasCommand('wrk')) throw new Error('Cannot measure: wrk is missing')
  const { origin, pathname, search } = new URL(url)
  const headerArgs = Object.entries(headers).flatMap(([name, text]) => ['-H', `${name}: ${text}`])
  const limits = ['-t1', `-c${connections}`, `-d${seconds}s`, ...headerArgs, '-s', SCRIPT]
  const named = Object.entries({ prefix: pathname + search, ...args })
  const scriptArgs = named.map(([name, value]) => `${name}=${value}`)
  const before = cpuMicroseconds(pid)
  const threadBefore = firstThreadMicroseconds(pid)
  const { stdout } = await promisify(execFile)('wrk', [...limits, origin, '--', ...scriptArgs])
  const cpu = cpuMicroseconds(pid) - before
  const threadCpu = firstThreadMicroseconds(pid) - threadBefore
  const text = /^RESULT (.*)$/m.exec(stdout)?.[1]
  if (text === undefined) throw new Error(`Cannot read the output of wrk: ${stdout}`)
  const result: Record<'requests' | 'seconds' | 'cpu' | 'p50' | 'p99' | 'failed', number> =
    JSON.parse(text)
  return {
    'requests/s': result.requests / result.seconds,
    'p50 ms': result.p50,
    'p99 ms': result.p99,
    'CPU µs/request': cpu / result.requests,
    'first thread µs': threadCpu / result.requests,
    'load µs': (result.cpu * 1e6) / result.requests,
    'private MB': memoryMegabytes(pid, 'RssAnon'),
    failed: result.failed,
  }
}

function medianOf(runs: readonly Measured[]): Measured {
  const of = (title: keyof Measured) => median(runs.map((run) => run[title]))
  return {
    'requests/s': of('requests/s'),
    'p50 ms': of('p50 ms'),
    'p99 ms': of('p99 ms'),
    'CPU µs/request': of('CPU µs/request'),
    'first thread µs': of('first thread µs'),
    'load µs': of('load µs'),
    'private MB': of('private MB'),
    failed: runs.reduce((sum, run) => sum + run.failed, 0),
  }
}
