import { setTimeout as wait } from 'node:timers/promises'
import { report } from '../../scripts/parts/run.ts'
import { findFreePort } from '../../scripts/parts/start-process.ts'
import { startStripeDouble } from '../../stripe-double/start-double.ts'
import { randomMix, writeAddresses } from '../parts/addresses.ts'
import { makeFolder, moveThreadsToLoadCore } from '../parts/machine.ts'
import { median } from '../parts/median.ts'
import type { BenchOptions } from '../parts/options.ts'
import { startMeridian, type Target } from '../parts/servers.ts'
import { printTable } from '../parts/table.ts'
import { startSteadyLookUps } from '../tail/steady-look-ups.ts'
import { createClient } from '../traffic/client.ts'
import { driveEvenly, measureCapacity } from '../traffic/drive.ts'
import { createTraffic } from '../traffic/mix.ts'
import { addPeople } from '../traffic/people.ts'
import { stripeSettings } from '../traffic/stripe-settings.ts'
import { startWatch } from './watch.ts'

const ROWS = 12
const SHARE_OF_CAPACITY = 0.5
const ADDRESSES = 100_000
const LOOK_UPS_PER_SECOND = 200
/** By then, the process that sends look-ups has compiled its code. */
const WARM_UP_MS = 2_000
/** Columns with the highest allowed ratio of the last third to the first. */
const ALLOWED = [
  ['p99 ms', 1.5],
  ['CPU µs/request', 1.2],
  ['private MB', 1.1],
  ['mapped MB', 1.1],
  ['heap in use, MB', 1.1],
] as const

type SoakRow = Readonly<Record<(typeof ALLOWED)[number][0] | 'errors', number>>

/** While the server warms up, caches fill, files are mapped and code is compiled. */
const WARM_UP_SHARE = 1 / 6

/** Drives all parts of one server at half of its capacity, and checks that nothing degrades. */
export async function benchSoak({ minutes, rate, geoFolder }: BenchOptions): Promise<void> {
  using folder = makeFolder()
  await using double = await startStripeDouble()
  const adminPort = await findFreePort()
  const settings = {
    MERIDIAN_TRUSTED_PROXIES: '127.0.0.1',
    MERIDIAN_ADMIN_PORT: String(adminPort),
    ...stripeSettings(double),
  }
  await using server = await startMeridian(folder.path, geoFolder, settings)
  const { origin } = new URL(server.url)
  double.addWebhook(`${origin}/v1/billing/webhook`, [settings.STRIPE_WEBHOOK_SECRET])
  using client = createClient(server)
  const { mix } = createTraffic(client, await addPeople(origin, double))
  using _threads = moveThreadsToLoadCore(server.pid)
  const pace = rate ?? SHARE_OF_CAPACITY * (await measureCapacity(client, mix))
  const addresses = writeAddresses(folder.path, randomMix(ADDRESSES))
  using watch = startWatch(server.pid, `http://127.0.0.1:${adminPort}/metrics`)
  const measureRow = async (n: number) => {
    const act = () => driveEvenly(client, mix, pace, (minutes * 60) / ROWS)
    const { failed, ...lookUps } = await measureLookUps(server, addresses, act)
    const tally = client.takeTally()
    const errors = tally.errors + failed
    return {
      minutes: (minutes * n) / ROWS,
      ...tally,
      errors,
      ...lookUps,
      ...(await watch.takeWorst()),
    }
  }
  const rows: Awaited<ReturnType<typeof measureRow>>[] = []
  try {
    for (let n = 1; n <= ROWS; n++) {
      const row = await measureRow(n)
      const cells = Object.entries(row).map(([title, value]) => `${title} ${value.toPrecision(4)}`)
      report(cells.join(', '))
      rows.push(row)
    }
  } finally {
    printTable(rows)
    for (const problem of client.problems) process.stdout.write(`\n- ${problem}\n`)
  }
  if (judge(rows) === 'failed') process.exitCode = 1
}

/** Measures the latencies of look-ups that a process of its own sends while `act` runs. */
async function measureLookUps(server: Target, addresses: string, act: () => Promise<void>) {
  await using lookUps = startSteadyLookUps(server, { addresses, perSecond: LOOK_UPS_PER_SECOND })
  await wait(WARM_UP_MS)
  lookUps.record()
  await act()
  const { p50, p99, p999, longest, late, failed } = await lookUps.report()
  return {
    'look-ups p50 ms': p50,
    'look-ups p99 ms': p99,
    'look-ups p99.9 ms': p999,
    'look-ups max ms': longest,
    'sender late ms': late,
    failed,
  }
}

/** Prints whether nothing failed, and memory and latency did not grow after the warm-up. */
function judge(rows: readonly SoakRow[]): 'passed' | 'failed' {
  const steady = rows.slice(Math.ceil(rows.length * WARM_UP_SHARE))
  const third = Math.floor(steady.length / 3)
  const table = ALLOWED.map(([title, allowed]) => {
    const values = steady.map((row) => row[title])
    const first = median(values.slice(0, third))
    const last = median(values.slice(-third))
    return { '': title, 'first third': first, 'last third': last, ratio: last / first, allowed }
  })
  const errors = rows.reduce((sum, row) => sum + row.errors, 0)
  const passes = errors === 0 && table.every(({ ratio, allowed }) => ratio <= allowed)
  const verdict = passes ? 'passed' : 'failed'
  printTable(table)
  process.stdout.write(`\nErrors: ${errors}. Verdict: ${verdict}.\n`)
  return verdict
}
