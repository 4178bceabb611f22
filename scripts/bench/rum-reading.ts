import { openDb } from '../../lib/db/open.ts'
import { keepBeacon } from '../../lib/rum/beacon.ts'
import { hourOf } from '../../lib/rum/hour.ts'
import { openRum, type Rum } from '../../lib/rum/rum.ts'
import { createRandom } from '../random.ts'
import { markdownTable, median } from './table.ts'

const HOUR_MS = 3_600_000
const HOURS = 168
const COUNTRIES = 20
const DEVICES = ['desktop', 'mobile', 'tablet'] as const
const BEACONS_PER_ROW = 20
const PASSES = 9

/** Reads 7 days of 20 countries and 3 devices. Returns a table. */
export async function measureReading(file: string): Promise<string> {
  const db = openDb(file)
  const now = Date.now()
  let country = 0
  const rum = openRum({
    db,
    now: () => now,
    findSites: () => [],
    findCountry: () => `C${String.fromCharCode(65 + (country++ % COUNTRIES))}`,
    onError: (error) => {
      throw error
    },
  })
  await fill(rum, now)
  const to = hourOf(now)
  const filter = { siteId: 'site', period: { from: to - HOURS, to } }
  // Writes what is in memory, as the service does every ten seconds.
  await rum.readOverview(filter)
  const rows = rum.readSummary(filter).length
  const summary = await time(() => JSON.stringify(rum.readSummary(filter)))
  const overview = await time(async () => JSON.stringify(await rum.readOverview(filter)))
  const hourly = { ...filter, series: 'hour' } as const
  const byHour = await time(async () => JSON.stringify(await rum.readOverview(hourly)))
  rum[Symbol.dispose]()
  db.$client.close()
  return markdownTable(
    ['', 'rows', 'ms'],
    [
      ['summary', rows, summary],
      ['overview', rows, overview],
      ['overview with its hours', rows, byHour],
    ],
  )
}

async function fill(rum: Rum, now: number): Promise<void> {
  const random = createRandom(1)
  const address = { version: 4, text: '192.0.2.1', bits: 0 } as const
  for (let hour = 0; hour < HOURS; hour++) {
    const at = now - hour * HOUR_MS
    const sent = DEVICES.flatMap((deviceType) =>
      Array.from({ length: COUNTRIES * BEACONS_PER_ROW }, () =>
        rum.accept(['site'], makeBeacon(deviceType, random), { address, now: at }),
      ),
    )
    await Promise.all(sent)
  }
}

function makeBeacon(deviceType: (typeof DEVICES)[number], random: () => number) {
  const time = (most: number) => Math.round(most * random() ** 3 * 10) / 10
  const metrics = {
    lcp: time(9_000),
    inp: 8 * Math.ceil(60 * random() ** 2),
    cls: random() < 0.5 ? 0 : random() / 3,
    ttfb: time(3_000),
    dns: time(100),
    tls: time(150),
    request: time(800),
    response: time(300),
  }
  return keepBeacon({ path: `/page/a${Math.floor(100 * random())}`, deviceType, metrics })
}

async function time(work: () => unknown): Promise<number> {
  const times: number[] = []
  for (let pass = 0; pass < PASSES; pass++) {
    const startedAt = performance.now()
    await work()
    times.push(performance.now() - startedAt)
  }
  return median(times)
}
