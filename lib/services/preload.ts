import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../parts/log/log.ts'

/** Loads something that is otherwise loaded on first use. */
export type Load = () => Promise<unknown>

/**
 * Runs the loads one after the other, with pauses. Loading on first use may be too late: npm ci may have
 * removed the packages by then. A failure is logged, and the first use loads again.
 */
export async function preload(loads: readonly Load[], log: Log, pauseMs = 0): Promise<void> {
  for (const load of loads) {
    await sleep(pauseMs, undefined, { ref: false })
    try {
      await load()
    } catch (error) {
      log.warn({ err: error }, 'cannot preload; will load on first use')
    }
  }
}
