import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { openDb } from '../lib/db/open.ts'
import { HOUR_MS } from '../lib/parts/durations.ts'
import { hourOf } from '../lib/rum/hour.ts'
import { keepBeacon } from '../lib/rum/ingest/beacon.ts'
import { createRumReader } from '../lib/rum/reader.ts'
import { createRum, type Rum } from '../lib/rum/rum.ts'
import { openRumWriter } from '../lib/rum/writer.ts'
import { postJson } from '../scripts/parts/post-json.ts'
import { createRandom } from '../scripts/parts/random.ts'
import { randomMix, writeAddresses } from './parts/addresses.ts'
import { DEVICES, makeBeacon } from './parts/beacon.ts'
import { drive, WARM_UP_SECONDS } from './parts/load.ts'
import { makeFolder, moveThreadsToLoadCore } from './parts/machine.ts'
import { medianTime } from './parts/median.ts'
import type { BenchOptions } from './parts/options.ts'
import { startMeridian } from './parts/servers.ts'
import { printTable } from './parts/table.ts'

const ADDRESSES = 1_000_000
const BEACONS = 1_000
/** More than usual, because many pages send beacons at once. */
const CONNECTIONS = 256

const HOURS = 168
const COUNTRIES = 20
const BEACONS_PER_ROW = 20
const PASSES = 9

const Summary = v.object({ metrics: v.array(v.unknown()) })

/** Measures storing beacons over HTTP, then reading their summaries. */
export async function benchRum(options: BenchOptions): Promise<void> {
  using folder = makeFolder()
  await benchStoring(folder.path, options)
  await benchReading(join(folder.path, 'reading.db'))
}

async function benchStoring(folder: string, { rounds, seconds, geoFolder }: BenchOptions) {
  const settings = { MERIDIAN_TRUSTED_PROXIES: '127.0.0.1' }
  await using server = await startMeridian(folder, geoFolder, settings)
  const { origin } = new URL(server.url)
  const site = { name: 'https://bench.example' }
  await postJson(`${origin}/v1/account/me/sites`, site, v.unknown(), server.headers)
  const addresses = writeAddresses(folder, randomMix(ADDRESSES))
  const load = { connections: CONNECTIONS, args: { addresses, beacons: writeBeacons(folder) } }
  await drive(server, load, WARM_UP_SECONDS)
  using _threads = moveThreadsToLoadCore(server.pid)
  const rows = await Array.fromAsync({ length: rounds }, async (_, n) => {
    return { round: n + 1, ...(await drive(server, load, seconds)) }
  })
  printTable(rows, 'Storing beacons: one per request')
}

function writeBeacons(folder: string): string {
  const random = createRandom(1)
  const path = join(folder, 'beacons.txt')
  const beacons = Array.from({ length: BEACONS }, () => JSON.stringify(makeBeacon(random)))
  writeFileSync(path, beacons.join('\n'))
  return path
}

/** Measures reading 7 days of 20 countries and 3 devices. */
async function benchReading(file: string): Promise<void> {
  const db = openDb(file)
  const now = Date.now()
  let country = 0
  const onError = (error: unknown) => {
    throw error
  }
  const writer = openRumWriter(db, { now: () => now, onError })
  const rum = createRum({
    writer,
    reader: createRumReader(db),
    onError,
    findSite: async () => null,
    findCountry: () => `C${String.fromCharCode(65 + (country++ % COUNTRIES))}`,
  })
  await fill(rum, now)
  const to = hourOf(now)
  const filter = { siteId: 'site', period: { from: to - HOURS, to } }
  // The first read stores what is in memory, as the service does every ten seconds.
  await rum.readOverview(filter)
  const bytes = await rum.readSummary(filter)
  const { metrics } = v.parse(Summary, JSON.parse(new TextDecoder().decode(bytes)))
  const summary = await medianTime(PASSES, () => rum.readSummary(filter))
  const overview = await medianTime(PASSES, () => rum.readOverview(filter))
  await writer[Symbol.asyncDispose]()
  db.$client.close()
  const table = [
    { '': 'summary', rows: metrics.length, ms: summary },
    { '': 'overview', rows: metrics.length, ms: overview },
  ]
  printTable(table, 'Reading')
}

async function fill(rum: Rum, now: number): Promise<void> {
  const random = createRandom(1)
  const address = { version: 4, text: '192.0.2.1', bits: 0 } as const
  for (let hour = 0; hour < HOURS; hour++) {
    const at = now - hour * HOUR_MS
    const sent = DEVICES.flatMap((deviceType) =>
      Array.from({ length: COUNTRIES * BEACONS_PER_ROW }, () => {
        const path = `/page/a${Math.floor(100 * random())}`
        const beacon = keepBeacon({ ...makeBeacon(random, deviceType), path })
        return rum.accept('site', beacon, { address, now: at })
      }),
    )
    await Promise.all(sent)
  }
}
