import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from './client.ts'
import type { Act } from './mix.ts'

const CLIENTS = 64
const WARM_UP_SECONDS = 10
const CAPACITY_SECONDS = 20
const TICK_MS = 1
const MAX_WAITING = 100_000

/** Measures 64 clients that act as fast as the server answers. Returns the actions per second. */
export async function measureCapacity(client: Client, act: Act): Promise<number> {
  await driveHard(act, WARM_UP_SECONDS)
  client.takeTally()
  const startedAt = performance.now()
  const acts = await driveHard(act, CAPACITY_SECONDS)
  const seconds = (performance.now() - startedAt) / 1_000
  const tally = client.takeTally()
  const rate = tally.requests / seconds
  const latency = `p99 ${tally['p99 ms'].toFixed(1)} ms`
  const share = Math.round((rate * tally['CPU µs/request']) / 1e4)
  const line = `Capacity: ${Math.round(rate)} requests/s, ${latency}, ${share} % of a core`
  process.stdout.write(`\n${line}\n`)
  return acts / seconds
}

/** Each client starts its next action at once. Returns the number of actions. */
async function driveHard(act: Act, seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1_000
  let acts = 0
  const work = async () => {
    for (; performance.now() < end; acts++) await act()
  }
  await Promise.all(Array.from({ length: CLIENTS }, work))
  return acts
}

/**
 * Starts `perSecond` actions by the clock even while earlier ones still run, so that the load on a
 * slow server does not drop. Throws if the server falls far behind.
 */
export async function driveEvenly(
  client: Client,
  act: Act,
  perSecond: number,
  seconds: number,
): Promise<void> {
  const startedAt = performance.now()
  const total = Math.round(perSecond * seconds)
  let failure: unknown
  for (let started = 0; started < total; await wait(TICK_MS)) {
    const due = Math.min(total, ((performance.now() - startedAt) * perSecond) / 1_000)
    for (; started < due; started++) act().catch((error) => (failure ??= error))
    if (failure !== undefined) throw failure
    if (client.waiting() > MAX_WAITING) {
      throw new Error('Cannot go on: the server or this machine is too slow')
    }
  }
}
