import type { Unwritten } from '../db/flusher.ts'
import type { MeterStore } from './meter-store.ts'
import type { Bucket } from './token-bucket.ts'
import type { UserMeter } from './user-meter.ts'

export const MINUTE_MS = 60_000

interface CallerOptions {
  readonly store: MeterStore
  readonly write: (item: Unwritten) => void
}

interface CallerParts {
  readonly id: string
  readonly userId: string
  readonly keyId: string
  readonly day: number
  readonly bucket: Bucket
  readonly user: UserMeter
  readonly unwritten: Set<CallerMeter>
}

/** The bucket of a caller, and what it was answered on one day and is not written yet. */
export class CallerMeter implements Unwritten {
  readonly id: string
  readonly userId: string
  readonly keyId: string
  readonly day: number
  readonly bucket: Bucket
  user: UserMeter
  requests = 0
  readonly #options: CallerOptions
  readonly #unwritten: Set<CallerMeter>
  #waits = false

  constructor(options: CallerOptions, parts: CallerParts) {
    this.id = parts.id
    this.userId = parts.userId
    this.keyId = parts.keyId
    this.day = parts.day
    this.bucket = parts.bucket
    this.user = parts.user
    this.#unwritten = parts.unwritten
    this.#options = options
  }

  change(): void {
    if (this.#waits) return
    this.#waits = true
    this.#unwritten.add(this)
    this.#options.write(this)
  }

  count(requests: number): void {
    this.requests += requests
    this.change()
  }

  write(): void {
    this.#options.store.addCallerUse(this)
  }

  written(): void {
    this.requests = 0
    this.#waits = false
    this.#unwritten.delete(this)
  }
}
