import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'

const PATIENCE_MS = 180_000

/** Asks again until it is so. Fails after three minutes. */
export async function until(isSo: () => Promise<boolean>, pauseMs: number): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, 'Stripe has not got there in three minutes')
    await wait(pauseMs)
  }
}
