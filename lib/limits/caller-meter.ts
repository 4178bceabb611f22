import type { Unwritten } from '../db/use-flusher.ts'
import type { CallerUse, Uses } from '../db/uses.ts'
import type { Bucket } from './buckets/token-bucket.ts'
import type { UserMeter, UserMeterOptions } from './user-meter.ts'

/** What all meters share. */
export interface MeterParts extends UserMeterOptions {
  /** The meters of callers with changes that are not written yet. */
  readonly unwritten: Set<CallerMeter>
}

/** A caller on one day. */
export type CallerDay = Omit<CallerUse, 'requests' | 'bucket'>

/** The bucket of a caller, and the answered requests of one day that are not written yet. */
export class CallerMeter implements Unwritten {
  readonly caller: CallerDay
  readonly bucket: Bucket
  user: UserMeter
  /** Answered requests that are neither written nor being written. */
  requests = 0
  readonly #parts: MeterParts
  #isQueued = false
  /** Requests that are being written. */
  #inFlight = 0

  constructor(parts: MeterParts, caller: CallerDay, bucket: Bucket, user: UserMeter) {
    this.#parts = parts
    this.caller = caller
    this.bucket = bucket
    this.user = user
  }

  /** Queues the bucket and the requests for the next flush. */
  queue(): void {
    if (this.#isQueued) return
    this.#isQueued = true
    this.#parts.unwritten.add(this)
    this.#parts.write(this)
  }

  count(requests: number): void {
    this.requests += requests
    this.queue()
  }

  collect({ callers }: Uses): void {
    const { spent, at } = this.bucket
    callers.push({ ...this.caller, requests: this.requests, bucket: { spent, at } })
    this.#inFlight = this.requests
    this.requests = 0
    this.#isQueued = false
  }

  written(): void {
    this.#inFlight = 0
    if (!this.#isQueued) this.#parts.unwritten.delete(this)
  }

  notWritten(): void {
    this.requests += this.#inFlight
    this.#inFlight = 0
    this.queue()
  }
}
