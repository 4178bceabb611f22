import { mkdirSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { startProcess } from '../parts/start-process.ts'
import { randomMix, writeAddresses } from './parts/addresses.ts'
import { driveInRounds } from './parts/load.ts'
import { makeFolder } from './parts/machine.ts'
import type { BenchOptions } from './parts/options.ts'
import { prepareMeridian } from './parts/servers.ts'
import { printTable } from './parts/table.ts'

const ADDRESSES = 1_000_000
const THREADS = [1, 2, 3]
const CONNECTIONS = [256, 1]

/** Compares values of `MERIDIAN_NODES`, with servers and load on the same processors. */
export async function benchNodes(options: BenchOptions): Promise<void> {
  using folder = makeFolder()
  await using servers = new AsyncDisposableStack()
  const args = { addresses: writeAddresses(folder.path, randomMix(ADDRESSES)) }
  const running = []
  for (const threads of THREADS) {
    const own = join(folder.path, String(threads))
    mkdirSync(own, { mode: 0o700 })
    const settings = { MERIDIAN_NODES: String(threads) }
    const { path, headers, ...server } = prepareMeridian(own, options.geoFolder, settings)
    const target = servers.use(await startProcess(server))
    running.push({ threads, target: { ...target, url: `${target.url}${path}`, headers } })
  }
  for (const connections of CONNECTIONS) {
    const trials = running.map((server) => ({ ...server, load: { connections, args } }))
    const results = await driveInRounds(trials, options)
    const one = results[0]?.measured['requests/s'] ?? Number.NaN
    const rows = results.map(({ threads, measured }) => ({
      threads,
      ...measured,
      '÷ 1 thread': (measured['requests/s'] / one).toFixed(2),
      'at most': (possible(measured) / one).toFixed(2),
    }))
    printTable(rows, `connections: ${connections}`)
  }
}

/** The requests per second if all processors did nothing but these requests, server and load together. */
function possible(measured: Readonly<Record<'CPU µs/request' | 'load µs', number>>): number {
  return (cpus().length * 1e6) / (measured['CPU µs/request'] + measured['load µs'])
}
