import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PREPARED } from '../../lib/geo/prepare.ts'
import { type Mix, randomMix, zipfMix } from './addresses.ts'
import { machine, moveToLoadCore } from './machine.ts'
import { driveInRounds, type Measured, medianOf } from './rounds.ts'
import { startBare, startMeridian, startNginx, type Target } from './servers.ts'
import { markdownTable } from './table.ts'

export interface HttpOptions {
  readonly rounds: number
  readonly seconds: number
  readonly geoFolder: string
  /** Takes each part of the report as it is ready. */
  readonly print: (text: string) => void
}

const ADDRESSES = 1_000_000
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
    const { nginxModule } = machine
    const database = join(options.geoFolder, PREPARED.maxmindCity)
    if (nginxModule !== undefined) targets.push(await startNginx(folder, database, nginxModule))
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
  const measured: Measured[] = []
  const onRound = (results: readonly Measured[], round: number) => {
    print(`Round ${round + 1}\n\n${markdownTable(TITLES, results.map(toRow))}\n`)
    measured.push(...results)
  }
  print(`\n### ${mix.name} addresses\n\n`)
  await driveInRounds(targets, { mix, addressFile, rounds, seconds, onRound })
  printMedians(targets, measured, print)
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
