import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PREPARED } from '../../lib/geo/prepare.ts'
import { type Mix, randomMix, zipfMix } from './addresses.ts'
import { type LoadResult, load } from './load.ts'
import { cpuMicroseconds, moveToLoadCore } from './machine.ts'
import { startBare, startMeridian, startNginx, type Target } from './servers.ts'
import { markdownTable, median } from './table.ts'

export interface HttpOptions {
  readonly rounds: number
  readonly seconds: number
  readonly geoFolder: string
  /** Takes each part of the report as it is ready. */
  readonly print: (text: string) => void
}

interface Measured {
  readonly name: string
  readonly rate: number
  readonly p50: number
  readonly p99: number
  /** Microseconds of processor time per request; NaN where the system does not tell. */
  readonly cpu: number
  readonly failed: number
}

const ADDRESSES = 1_000_000
const WARM_UP_SECONDS = 3
const TITLES = ['', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs/request', 'failed']

/** Drives Meridian, a bare answer and nginx in turn, and prints what each did. */
export async function benchHttp(options: HttpOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-bench-'))
  const targets: Target[] = []
  const cleanUp = async () => {
    await Promise.all(targets.map((target) => target.stop()))
    rmSync(folder, { recursive: true, force: true })
  }
  const onInterrupt = () => void cleanUp().finally(() => process.exit(130))
  process.once('SIGINT', onInterrupt)
  moveToLoadCore()
  try {
    targets.push(await startMeridian(folder, options.geoFolder))
    targets.push(await startBare())
    const nginx = await startNginx(folder, join(options.geoFolder, PREPARED.maxmindCity))
    if (nginx !== undefined) targets.push(nginx)
    for (const mix of [randomMix(ADDRESSES), zipfMix(ADDRESSES)]) {
      await benchMix(mix, targets, folder, options)
    }
  } finally {
    process.off('SIGINT', onInterrupt)
    await cleanUp()
  }
}

async function benchMix(
  mix: Mix,
  targets: readonly Target[],
  folder: string,
  { rounds, seconds, print }: HttpOptions,
): Promise<void> {
  const addressFile = join(folder, 'addresses.txt')
  writeFileSync(addressFile, `${mix.addresses.join('\n')}\n`)
  const source = { addresses: mix.addresses, addressFile }
  const measured: Measured[] = []
  for (const target of targets) {
    await checkAnswer(target)
    await load(target, { ...source, offset: 0, seconds: WARM_UP_SECONDS })
  }
  print(`\n### ${mix.name} addresses\n\n`)
  for (let round = 0; round < rounds; round++) {
    const offset = Math.floor((round * mix.addresses.length) / rounds)
    const results: Measured[] = []
    for (const target of targets) {
      results.push(await measure(target, () => load(target, { ...source, offset, seconds })))
    }
    print(`Round ${round + 1}\n\n${markdownTable(TITLES, results.map(toRow))}\n`)
    measured.push(...results)
  }
  for (const target of targets) await checkAnswer(target)
  printMedians(targets, measured, print)
}

/** A server that refuses is fast: nothing is measured of one that limits us. */
async function checkAnswer({ name, url, headers }: Target): Promise<void> {
  const { status } = await fetch(`${url}8.8.8.8`, { headers })
  if (status !== 200) throw new Error(`${name} answered ${status} instead of 200`)
}

async function measure(target: Target, work: () => Promise<LoadResult>): Promise<Measured> {
  const before = cpuMicroseconds(target.pid)
  const { requests, seconds, p50, p99, failed } = await work()
  const cpu = (cpuMicroseconds(target.pid) - before) / requests
  return { name: target.name, rate: requests / seconds, p50, p99, cpu, failed }
}

function toRow({ name, rate, p50, p99, cpu, failed }: Measured): (string | number)[] {
  return [name, rate, p50, p99, cpu, failed]
}

function printMedians(
  targets: readonly Target[],
  measured: readonly Measured[],
  print: HttpOptions['print'],
): void {
  const medians = targets.map(({ name }) => medianOf(measured.filter((one) => one.name === name)))
  print(`Medians\n\n${markdownTable(TITLES, medians.map(toRow))}\n`)
  const [ours, ...others] = medians
  if (ours === undefined) return
  const ratios = others.map((other) => [
    `Meridian / ${other.name}`,
    ours.rate / other.rate,
    ours.p99 / other.p99,
    ours.cpu / other.cpu,
  ])
  print(`${markdownTable(['ratio', 'requests/s', 'p99', 'CPU'], ratios)}\n`)
}

function medianOf(runs: readonly Measured[]): Measured {
  const of = (field: 'rate' | 'p50' | 'p99' | 'cpu') => median(runs.map((run) => run[field]))
  const failed = runs.reduce((sum, run) => sum + run.failed, 0)
  return {
    name: runs[0]?.name ?? '',
    rate: of('rate'),
    p50: of('p50'),
    p99: of('p99'),
    cpu: of('cpu'),
    failed,
  }
}
