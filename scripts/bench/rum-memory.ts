import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadBeacons } from './load.ts'
import { memoryMegabytes, moveToLoadCore } from './machine.ts'
import { startWithSite } from './rum-server.ts'
import { markdownTable } from './table.ts'

export interface RumMemoryOptions {
  /** How many are sent. */
  readonly beacons: number
  readonly geoFolder: string
}

const TITLES = ['beacons', 'beacons/s', 'p50 ms', 'p99 ms', 'failed', 'memory MB', 'its own MB']
const BEACONS_BETWEEN = 250_000
const SECONDS = 4

/** Sends beacons of one busy site without a break. Returns a table of the memory that is held. */
export async function benchRumMemory({ beacons, geoFolder }: RumMemoryOptions): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-bench-'))
  moveToLoadCore()
  const server = await startWithSite(folder, geoFolder)
  const { origin } = new URL(server.url)
  const memory = () => [memoryMegabytes(server.pid), memoryMegabytes(server.pid, 'RssAnon')]
  const rows: number[][] = [[0, 0, 0, 0, 0, ...memory()]]
  try {
    for (let sent = 0; sent < beacons; ) {
      const { requests, seconds, p50, p99, failed } = await loadBeacons(origin, SECONDS)
      sent += requests
      if (sent < rows.length * BEACONS_BETWEEN && sent < beacons) continue
      rows.push([sent, requests / seconds, p50, p99, failed, ...memory()])
    }
    return markdownTable(TITLES, rows)
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
