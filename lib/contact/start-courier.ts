import { SECOND_MS } from '../durations.ts'
import { repeat } from '../periodic.ts'
import { Courier, type CourierOptions } from './courier.ts'
import type { Delivery } from './delivery-queue.ts'

const POLL_MS = 5 * SECOND_MS

/** Delivers new messages and those that the last run left, and retries failed ones. */
export function startCourier<Row extends Delivery>(
  options: CourierOptions<Row>,
  opening: AsyncDisposableStack,
): Courier<Row> {
  const courier = opening.use(new Courier(options))
  courier.wake()
  opening.use(repeat(POLL_MS, () => courier.retry(), options.onError))
  return courier
}
