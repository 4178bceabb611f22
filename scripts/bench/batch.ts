import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Mix, randomMix, zipfMix } from './addresses.ts'
import type { HttpOptions } from './http.ts'
import { loadBatches } from './load.ts'
import { cpuMicroseconds, moveToLoadCore } from './machine.ts'
import { startMeridian, type Target } from './servers.ts'
import { markdownTable, median } from './table.ts'

const TITLES = ['addresses', 'look-ups/s', 'CPU µs/look-up', 'p50 ms/batch', 'failed']
const ADDRESSES = 1_000_000
const PER_BATCH = 1_000
const WARM_UP_SECONDS = 3

/** Sends batches of 1,000 addresses over HTTP to a server on one core; prints the medians. */
export async function benchBatch(options: HttpOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-bench-'))
  moveToLoadCore()
  try {
    const server = await startMeridian(folder, options.geoFolder)
    try {
      const rows: (string | number)[][] = []
      for (const mix of [randomMix(ADDRESSES), zipfMix(ADDRESSES)]) {
        rows.push(await measureMix(mix, server, folder, options))
      }
      options.print(`\n${markdownTable(TITLES, rows)}`)
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureMix(
  { name, addresses }: Mix,
  server: Target,
  folder: string,
  { rounds, seconds }: HttpOptions,
): Promise<(string | number)[]> {
  const file = join(folder, 'addresses.txt')
  writeFileSync(file, `${addresses.join('\n')}\n`)
  await loadBatches(server, file, WARM_UP_SECONDS)
  const runs: { rate: number; cpu: number; p50: number; failed: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const before = cpuMicroseconds(server.pid)
    const { requests, seconds: took, p50, failed } = await loadBatches(server, file, seconds)
    const lookups = requests * PER_BATCH
    const cpu = (cpuMicroseconds(server.pid) - before) / lookups
    runs.push({ rate: lookups / took, cpu, p50, failed })
  }
  const of = (field: 'rate' | 'cpu' | 'p50') => median(runs.map((run) => run[field]))
  const failed = runs.reduce((sum, run) => sum + run.failed, 0)
  return [name, of('rate'), of('cpu'), of('p50'), failed]
}
