import type { GrownServer } from './growth-dimensions.ts'
import { type KeyedOptions, loadWithKeys } from './load.ts'
import { cpuMicroseconds, memoryMegabytes } from './machine.ts'
import { checkAnswer } from './servers.ts'
import { median } from './table.ts'

/** What a server of some size takes for a request. */
export interface Grown {
  readonly size: number
  /** Requests per second, as fast as it answers. */
  readonly rate: number
  /** Microseconds of processor time per request at that. */
  readonly cpu: number
  /** Milliseconds at a steady rate. */
  readonly p50: number
  readonly p99: number
  /** Megabytes afterwards: its own, and of files that it has mapped. */
  readonly own: number
  readonly mapped: number
  readonly failed: number
}

export interface Measuring extends Pick<KeyedOptions, 'addresses' | 'addressFile'> {
  readonly rounds: number
  readonly seconds: number
}

/** Modest for a server that answers twenty times as many. */
export const STEADY_RATE = 2_000
const WARM_UP_SECONDS = 3

/** Asks the server in rounds: at a steady rate, and as fast as it answers. Gives the medians. */
export async function measureGrown(server: GrownServer, measuring: Measuring): Promise<Grown> {
  const { size, target } = server
  const ask = (at: number, rate?: number, seconds = measuring.seconds) =>
    loadWithKeys(target, {
      ...server,
      ...measuring,
      seconds,
      rate,
      offset: Math.floor((at * measuring.addresses.length) / measuring.rounds),
    })
  await checkAnswer(target)
  await ask(0, undefined, WARM_UP_SECONDS)
  const rounds: Omit<Grown, 'size' | 'own' | 'mapped'>[] = []
  for (let round = 0; round < measuring.rounds; round++) {
    const { p50, p99, failed } = await ask(round, STEADY_RATE)
    const before = cpuMicroseconds(target.pid)
    const full = await ask(round)
    const cpu = (cpuMicroseconds(target.pid) - before) / full.requests
    rounds.push({ rate: full.requests / full.seconds, cpu, p50, p99, failed: failed + full.failed })
  }
  await checkAnswer(target)
  const of = (field: 'rate' | 'cpu' | 'p50' | 'p99') => median(rounds.map((one) => one[field]))
  return {
    size,
    rate: of('rate'),
    cpu: of('cpu'),
    p50: of('p50'),
    p99: of('p99'),
    own: memoryMegabytes(target.pid, 'RssAnon'),
    mapped: memoryMegabytes(target.pid, 'RssFile'),
    failed: rounds.reduce((sum, { failed }) => sum + failed, 0),
  }
}
