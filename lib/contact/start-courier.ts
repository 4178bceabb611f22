import { SECOND_MS } from '../parts/durations.ts'
import type { Log } from '../parts/log/log.ts'
import { withAdvice } from '../parts/reason.ts'
import { repeat } from '../parts/repeat.ts'
import { reportOutages } from '../parts/report-outages.ts'
import { Courier, type CourierOptions } from './courier.ts'
import type { Delivery } from './delivery-queue.ts'

const POLL_MS = 5 * SECOND_MS

/** What couriers share. */
interface Parts extends Pick<CourierOptions<never>, 'db' | 'now'> {
  readonly storage: {
    readonly leases: {
      readonly runAlone: (
        name: string,
        ...work: Parameters<CourierOptions<never>['runAlone']>
      ) => Promise<unknown>
    }
  }
  readonly log: Pick<Log, 'warn' | 'error'>
}

/** Messages of one kind. */
interface Post<Row extends Delivery> extends Pick<CourierOptions<Row>, 'queue' | 'deliver'> {
  /** What the log calls a message, such as `a notice`, and all of them. */
  readonly one: string
  readonly all: string
  readonly lease: string
  /** For the log, beside the attempts and the reason. */
  readonly fields: (id: string) => Readonly<Record<string, string>>
  /** What to do about a message that is given up. */
  readonly advice?: string
}

/** Delivers new messages and those that the last run left, and retries failed ones. */
export function startCourier<Row extends Delivery>(
  { storage, db, log, now }: Parts,
  { queue, deliver, one, all, lease, fields, advice }: Post<Row>,
  opening: AsyncDisposableStack,
): Courier<Row> {
  const options: CourierOptions<Row> = {
    ...{ db, queue, deliver, now },
    runAlone: (work) => storage.leases.runAlone(lease, work),
    onFailure: ({ willRetry, id, ...failure }) => {
      const logged = { ...fields(id), ...failure }
      if (willRetry) log.warn(logged, `cannot deliver ${one}; it will be tried again`)
      else log.error(logged, withAdvice(`gave up on ${one}`, advice ?? ''))
    },
    onError: (error) => log.error({ err: error }, `cannot read or update ${all}`),
  }
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
