import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from './client.ts'
import type { Act } from './mix.ts'

const CLIENTS = 64
const TICK_MS = 1
const MOST_WAITING = 100_000

/** Clients who act one after the other: as fast as the server answers. */
export async function driveHard(act: Act, seconds: number): Promise<void> {
  const end = performance.now() + seconds * 1_000
  const work = async () => {
    while (performance.now() < end) await act()
  }
  await Promise.all(Array.from({ length: CLIENTS }, work))
}

/**
 * Begins `perSecond` actions by the clock, whether or not the ones before have ended: a server that
 * is slow for a moment is not spared. Throws when it falls behind for good.
 */
export async function driveEvenly(
  client: Client,
  act: Act,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<void> {
  const startedAt = performance.now()
  const total = Math.round(perSecond * seconds)
  let failure: unknown
  for (let begun = 0; begun < total; await wait(TICK_MS)) {
    const due = Math.min(total, ((performance.now() - startedAt) * perSecond) / 1_000)
    for (; begun < due; begun++) act().catch((error) => (failure ??= error))
    if (failure !== undefined) throw failure
    if (client.waiting() > MOST_WAITING)
      throw new Error('Cannot go on: the server, or this machine, does not keep up')
  }
}
