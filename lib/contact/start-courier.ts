import { SECOND_MS } from '../parts/durations.ts'
import { repeat } from '../parts/repeat.ts'
import { reportOutages } from '../parts/report-outages.ts'
import { Courier, type CourierOptions } from './courier.ts'
import type { Delivery } from './delivery-queue.ts'

const POLL_MS = 5 * SECOND_MS

/** Delivers new messages and those that the last run left, and retries failed ones. */
export function startCourier<Row extends Delivery>(
  options: CourierOptions<Row>,
  opening: AsyncDisposableStack,
): Courier<Row> {
  const attempts = reportOutages(options.onError)
  let hasFailed = false
  const onError = (error: unknown) => {
    hasFailed = true
    attempts.failed(error)
  }
  const courier = opening.use(new Courier({ ...options, onError }))
  // The courier reports its errors itself, and does not throw them.
  const retry = async () => {
    hasFailed = false
    await courier.retry()
    if (!hasFailed) attempts.succeeded()
  }
  courier.wake()
  opening.use(repeat(POLL_MS, retry, onError))
  return courier
}
