import { writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { report } from '../../scripts/parts/run.ts'
import { startStripeDouble } from '../../stripe-double/start-double.ts'
import { randomMix, writeAddresses } from '../parts/addresses.ts'
import { makeFolder, moveThreadsToLoadCore } from '../parts/machine.ts'
import type { BenchOptions } from '../parts/options.ts'
import { startServer } from '../parts/servers.ts'
import { printTable } from '../parts/table.ts'
import { createClient } from '../traffic/client.ts'
import { createTraffic } from '../traffic/mix.ts'
import { NEIGHBOURS, type Neighbour } from './neighbours.ts'
import { drawPlot } from './plot.ts'
import { startSteadyLookUps } from './steady-look-ups.ts'
import { prepareWorld, type World } from './world.ts'

const ADDRESSES = 100_000
const PER_SECOND = 2_000
/** By then the server has loaded what it loads when idle, and V8 has compiled the code. */
const WARM_UP_MS = 8_000
const COLD_MS = 100
const STEADY_SECONDS = 3
const TICK_MS = 10

/** Measures 2,000 look-ups a second next to one other thing at a time, each on a server of its own. */
export async function benchTail({ seconds, geoFolder, plot }: BenchOptions): Promise<void> {
  using folder = makeFolder()
  await using double = await startStripeDouble()
  report('Preparing the data')
  const world = await prepareWorld(folder.path, geoFolder, double)
  const addresses = writeAddresses(folder.path, randomMix(ADDRESSES))
  const measured = NEIGHBOURS.filter(({ missing }) => missing === undefined)
  const rows = await Array.fromAsync(measured, async (neighbour) => {
    report(`Measuring next to: ${neighbour.name}`)
    return { name: neighbour.name, ...(await measure(world, neighbour, { addresses, seconds })) }
  })
  for (const { name, missing } of NEIGHBOURS) {
    if (missing !== undefined)
      process.stdout.write(`Not measured: ${name}: ${missing} is missing\n`)
  }
  printTable(rows.map(toCells), `Latencies of ${PER_SECOND} look-ups/s in ms, next to`)
  if (plot !== undefined) writeFileSync(plot, drawPlot(rows))
}

type Measured = Awaited<ReturnType<typeof measure>>

async function measure(
  world: World,
  { isCold = false, isSteady = false, settings, prepare, act }: Neighbour,
  { addresses, seconds }: { readonly addresses: string; readonly seconds: number },
) {
  prepare?.(world)
  const env = { ...world.server.env, ...settings }
  await using server = await startServer({ ...world.server, env })
  using _threads = moveThreadsToLoadCore(server.pid)
  using client = createClient(server)
  await using lookUps = startSteadyLookUps(server, { addresses, perSecond: PER_SECOND })
  const traffic = createTraffic(client, world.people)
  await wait(isCold ? COLD_MS : WARM_UP_MS)
  if (isSteady) await act({ ...world, client, traffic, seconds: STEADY_SECONDS })
  client.takeTally()
  lookUps.record()
  await Promise.all([act({ ...world, client, traffic, seconds }), wait(seconds * 1_000)])
  const latencies = await lookUps.report()
  while (client.waiting() > 0) await wait(TICK_MS)
  const { requests, errors } = client.takeTally()
  for (const problem of client.problems) process.stdout.write(`\n- ${problem}\n`)
  return { ...latencies, requests, errors }
}

function toCells({ name, p50, p99, p999, longest, late, ...counts }: Measured & { name: string }) {
  return {
    '': name,
    p50,
    p99,
    'p99.9': p999,
    longest,
    'sender late': late,
    'failed look-ups': counts.failed,
    'other requests': counts.requests,
    'failed ones': counts.errors,
  }
}
