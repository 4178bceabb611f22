import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HttpOptions } from './http.ts'
import { loadBeacons } from './load.ts'
import { cpuMicroseconds, memoryMegabytes, moveToLoadCore } from './machine.ts'
import { measureReading } from './rum-reading.ts'
import { startWithSite } from './rum-server.ts'
import { markdownTable } from './table.ts'

const TITLES = ['round', 'beacons/s', 'p50 ms', 'p99 ms', 'CPU µs/beacon', 'memory MB', 'failed']
const WARM_UP_SECONDS = 3

/** Stores beacons over HTTP on one core, then reads summaries, and prints what each took. */
export async function benchRum(options: HttpOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-bench-'))
  moveToLoadCore()
  try {
    await benchStoring(folder, options)
    options.print(`\n### Reading\n\n${await measureReading(join(folder, 'reading.db'))}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function benchStoring(folder: string, { rounds, seconds, geoFolder, print }: HttpOptions) {
  const server = await startWithSite(folder, geoFolder)
  const { origin } = new URL(server.url)
  try {
    await loadBeacons(origin, WARM_UP_SECONDS)
    const rows: number[][] = []
    for (let round = 1; round <= rounds; round++) {
      const before = cpuMicroseconds(server.pid)
      const { requests, seconds: took, p50, p99, failed } = await loadBeacons(origin, seconds)
      const cpu = (cpuMicroseconds(server.pid) - before) / requests
      rows.push([round, requests / took, p50, p99, cpu, memoryMegabytes(server.pid), failed])
    }
    print(`\n### Storing beacons\n\n${markdownTable(TITLES, rows)}`)
  } finally {
    await server.stop()
  }
}
