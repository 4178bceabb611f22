import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StripeDouble } from '../../../stripe-double/double.ts'
import { newSecretKey, newSigningSecret } from '../../../stripe-double/ids.ts'
import { seedPlans } from '../../../stripe-double/plans.ts'
import { startStripeDouble } from '../../../stripe-double/start-double.ts'
import { report } from '../../run.ts'
import { findFreePort } from '../free-port.ts'
import { cpuMicroseconds, moveToLoadCore } from '../machine.ts'
import { startMeridian, type Target } from '../servers.ts'
import { markdownTable } from '../table.ts'
import { type Client, createClient } from './client.ts'
import { driveEvenly, driveHard } from './drive.ts'
import { type Act, createMix } from './mix.ts'
import { addPeople } from './people.ts'
import { judge, type SoakRow } from './verdict.ts'
import { startWatch, type Watched } from './watch.ts'

export interface SoakOptions {
  readonly minutes: number
  readonly geoFolder: string
  readonly print: (text: string) => void
}

const ROWS = 12
const WARM_UP_SECONDS = 10
const CAPACITY_SECONDS = 20
const SHARE_OF_CAPACITY = 0.5
const PLAN = { monthlyCap: 1e12, maxKeys: 10, maxSites: 1, requestsPerMinute: 1e9 }
const PLANS = [
  { id: 'free', name: 'Free', price: 0, ...PLAN },
  { id: 'pro', name: 'Pro', price: 29, ...PLAN },
]
const TITLES = [
  'minutes',
  'requests',
  'errors',
  'p50 ms',
  'p99 ms',
  'max ms',
  'CPU µs/request',
  'own MB',
  'files MB',
  'heap MB',
  'WAL MB',
  'database MB',
  'loop lag ms',
]

/** Drives all parts of one server at half of what it can, and prints how it fares. */
export async function benchSoak({ minutes, geoFolder, print }: SoakOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-bench-'))
  moveToLoadCore()
  await using double = await startStripeDouble()
  const signingSecret = newSigningSecret()
  const adminPort = await findFreePort()
  const settings = makeSettings(folder, double, { signingSecret, adminPort })
  const server = await startMeridian(folder, geoFolder, settings)
  const { origin } = new URL(server.url)
  double.addWebhook(`${origin}/v1/billing/webhook`, [signingSecret])
  const metricsUrl = `http://127.0.0.1:${adminPort}/metrics`
  try {
    using client = createClient(origin)
    const act = createMix(client, await addPeople(client, double))
    const perSecond = (await measureCapacity(client, act, { server, print })) * SHARE_OF_CAPACITY
    const watched = { pid: server.pid, folder, metricsUrl }
    const rows: SoakRow[] = []
    try {
      await soak(client, act, { perSecond, minutes, watched, onRow: (row) => rows.push(row) })
    } finally {
      print(`\n${markdownTable(TITLES, rows.map(toRow))}\n`)
      for (const problem of client.problems) print(`- ${problem}\n`)
    }
    const { text, holds } = judge(rows)
    print(text)
    if (!holds) process.exitCode = 1
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function makeSettings(
  folder: string,
  double: StripeDouble,
  { signingSecret, adminPort }: { readonly signingSecret: string; readonly adminPort: number },
): Record<string, string> {
  const plans = join(folder, 'soak-plans.json')
  writeFileSync(plans, JSON.stringify(PLANS))
  const prices = seedPlans(double.world, PLANS)
  return {
    MERIDIAN_PLANS: plans,
    MERIDIAN_TRUSTED_PROXIES: '127.0.0.1',
    MERIDIAN_ADMIN_PORT: String(adminPort),
    STRIPE_SECRET_KEY: newSecretKey(),
    STRIPE_WEBHOOK_SECRET: signingSecret,
    STRIPE_API_BASE: double.url,
    STRIPE_PRICE_PRO: prices.plans.get('pro') ?? '',
    STRIPE_PRICE_OVERAGE: prices.overage,
  }
}

interface Measured {
  readonly server: Target
  readonly print: SoakOptions['print']
}

/** Actions per second of clients who act one after the other, as fast as they are answered. */
async function measureCapacity(client: Client, act: Act, { server, print }: Measured) {
  let acts = 0
  const count = () => {
    acts += 1
    return act()
  }
  await driveHard(act, WARM_UP_SECONDS)
  client.takeTally()
  const before = cpuMicroseconds(server.pid)
  const startedAt = performance.now()
  await driveHard(count, CAPACITY_SECONDS)
  const seconds = (performance.now() - startedAt) / 1_000
  const share = Math.round((cpuMicroseconds(server.pid) - before) / 1e4 / seconds)
  const { requests, p99 } = client.takeTally()
  const rate = Math.round(requests / seconds)
  print(`\nCapacity: ${rate} requests/s, p99 ${p99.toFixed(1)} ms, ${share} % of a core\n`)
  return acts / seconds
}

interface Course {
  readonly perSecond: number
  readonly minutes: number
  readonly watched: Watched
  readonly onRow: (row: SoakRow) => void
}

async function soak(client: Client, act: Act, course: Course): Promise<void> {
  const { perSecond, minutes, watched, onRow } = course
  using watch = startWatch(watched)
  for (let n = 1; n <= ROWS; n++) {
    const before = cpuMicroseconds(watched.pid)
    await driveEvenly(client, act, { perSecond, seconds: (minutes * 60) / ROWS })
    const tally = client.takeTally()
    const cpu = (cpuMicroseconds(watched.pid) - before) / tally.requests
    const row = { minutes: (minutes * n) / ROWS, ...tally, cpu, ...(await watch.takeHeld()) }
    report(TITLES.map((title, at) => `${title} ${toRow(row)[at]?.toPrecision(4)}`).join(', '))
    onRow(row)
  }
}

function toRow(row: SoakRow): number[] {
  return [
    row.minutes,
    row.requests,
    row.errors,
    row.p50,
    row.p99,
    row.max,
    row.cpu,
    row.anonMegabytes,
    row.fileMegabytes,
    row.heapMegabytes,
    row.walMegabytes,
    row.databaseMegabytes,
    row.lagMs,
  ]
}
