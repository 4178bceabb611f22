import type { Unwritten } from '../db/flusher.ts'
import type { CallerUse } from './meter-store.ts'
import type { Bucket } from './token-bucket.ts'
import type { UserMeter, UserMeterOptions } from './user-meter.ts'

/** Shared by all meters. */
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
  requests = 0
  readonly #parts: MeterParts
  #isQueued = false

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

  write(): void {
    const { requests, bucket } = this
    this.#parts.store.addCallerUse({ ...this.caller, requests, bucket })
  }

  written(): void {
    this.requests = 0
    this.#isQueued = false
    this.#parts.unwritten.delete(this)
  }
}
