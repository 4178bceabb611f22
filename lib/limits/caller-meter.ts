import { tablePageOf, type Unwritten } from '../db/use-flusher.ts'
import type { Uses } from '../db/uses.ts'
import type { Bucket } from './buckets/token-bucket.ts'
import type { UserMeter } from './user-meter.ts'

/** The bucket of a caller, and the counts of the caller's user. */
export class CallerMeter implements Unwritten {
  readonly id: string
  readonly place: number
  readonly bucket: Bucket
  #user: UserMeter
  readonly #write: (item: Unwritten) => void
  #isQueued = false
  #isInFlight = false

  /** `write` queues the bucket to be written: see `UseFlusher.add`. */
  constructor(id: string, bucket: Bucket, user: UserMeter, write: (item: Unwritten) => void) {
    this.id = id
    this.place = tablePageOf(id)
    this.bucket = bucket
    this.#user = user
    this.#write = write
    user.callers += 1
  }

  get user(): UserMeter {
    return this.#user
  }

  /** Counts from now on in another period. */
  moveTo(user: UserMeter): void {
    this.#user.callers -= 1
    this.#user = user
    user.callers += 1
  }

  get isWritten(): boolean {
    return !this.#isQueued && !this.#isInFlight
  }

  /** Queues the bucket for the next flush. */
  queue(): void {
    if (this.#isQueued) return
    this.#isQueued = true
    this.#write(this)
  }

  collect({ buckets }: Uses): void {
    const { spent, at } = this.bucket
    buckets.push({ id: this.id, bucket: { spent, at } })
    this.#isInFlight = true
    this.#isQueued = false
  }

  written(): void {
    this.#isInFlight = false
  }

  notWritten(): void {
    this.#isInFlight = false
    this.queue()
  }
}
