import type { Mix } from './addresses.ts'
import { load } from './load.ts'
import { cpuMicroseconds } from './machine.ts'
import { checkAnswer, type Target } from './servers.ts'
import { median } from './table.ts'

/** What a server did, in one round or as the median of several. */
export interface Measured {
  readonly name: string
  readonly rate: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Microseconds of processor time per request; NaN where the system does not tell. */
  readonly cpu: number
  readonly failed: number
}

export interface RoundsOptions {
  readonly mix: Mix
  /** File with the addresses of the mix, one on each line. */
  readonly addressFile: string
  readonly rounds: number
  readonly seconds: number
  /** Takes what the servers did in each round, in their order. */
  readonly onRound: (results: readonly Measured[], round: number) => void
}

const WARM_UP_SECONDS = 3

/** Drives the servers in turn, round by round, after each has been warmed up. */
export async function driveInRounds(
  targets: readonly Target[],
  { mix: { addresses }, addressFile, rounds, seconds, onRound }: RoundsOptions,
): Promise<void> {
  for (const target of targets) {
    await checkAnswer(target)
    await load(target, { addresses, addressFile, offset: 0, seconds: WARM_UP_SECONDS })
  }
  for (let round = 0; round < rounds; round++) {
    const offset = Math.floor((round * addresses.length) / rounds)
    const results: Measured[] = []
    for (const target of targets) {
      const before = cpuMicroseconds(target.pid)
      const result = await load(target, { addresses, addressFile, offset, seconds })
      const cpu = (cpuMicroseconds(target.pid) - before) / result.requests
      results.push({ ...result, name: target.name, rate: result.requests / result.seconds, cpu })
    }
    onRound(results, round)
  }
  for (const target of targets) await checkAnswer(target)
}

export function medianOf(runs: readonly Measured[]): Measured {
  const of = (field: 'rate' | 'p50' | 'p99' | 'cpu') => median(runs.map((run) => run[field]))
  return {
    name: runs[0]?.name ?? '',
    rate: of('rate'),
    p50: of('p50'),
    p99: of('p99'),
    cpu: of('cpu'),
    failed: runs.reduce((sum, { failed }) => sum + failed, 0),
  }
}
