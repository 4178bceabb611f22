import type Stripe from 'stripe'
import { until } from './until.ts'

/** A clock of Stripe's, by which the customers of one case live. */
export interface TestClock extends AsyncDisposable {
  readonly id: string
  /** Seconds since 1970. */
  readonly now: () => number
  /** Lets time pass, and waits for all that happens in it. */
  readonly pass: (seconds: number) => Promise<void>
  /** As `pass`, up to this moment. */
  readonly passTo: (time: number) => Promise<void>
}

/** Deleting the clock deletes its customers and ends their subscriptions. */
export async function openTestClock(
  { testHelpers: { testClocks } }: Stripe,
  start: number,
  pauseMs: number,
): Promise<TestClock> {
  const { id } = await testClocks.create({ frozen_time: start, name: 'Meridian sandbox' })
  let now = start
  const passTo = async (time: number) => {
    await testClocks.advance(id, { frozen_time: time })
    await until(async () => (await testClocks.retrieve(id)).status === 'ready', pauseMs)
    now = time
  }
  return {
    id,
    now: () => now,
    pass: (seconds) => passTo(now + seconds),
    passTo,
    [Symbol.asyncDispose]: async () => void (await testClocks.del(id)),
  }
}
