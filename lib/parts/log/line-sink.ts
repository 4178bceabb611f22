import { write, writeSync } from 'node:fs'
import { codeOf } from '../reason.ts'
import { LineBuffer } from './line-buffer.ts'

const FLUSH_INTERVAL_MS = 250
const RETRY_MS = 10
/** Bytes that may wait for a slow reader. Any more are dropped. */
const MAX_WAITING = 16 * 1024 * 1024

/**
 * Collects lines and writes them to a file descriptor together, at least every 250 ms: a system call
 * per line would cost more than most requests.
 */
export class LineSink implements Disposable {
  readonly #fd: number
  readonly #waiting: Buffer[] = []
  #waitingBytes = 0
  readonly #timer: ReturnType<typeof setInterval>
  readonly #lines = new LineBuffer()
  #writing = false

  constructor(fd: number) {
    this.#fd = fd
    this.#timer = setInterval(() => this.#handOver(), FLUSH_INTERVAL_MS)
    this.#timer.unref()
  }

  write(line: string): void {
    if (this.#lines.add(line)) this.#handOver()
  }

  /** Writes whole lines, after all earlier ones. */
  writeBytes(lines: Uint8Array): void {
    this.#handOver()
    this.#enqueue(Buffer.from(lines.buffer, lines.byteOffset, lines.length))
  }

  /**
   * Writes everything before it returns. If a write is in progress, the lines follow after it
   * instead, to keep their order.
   */
  flush(): void {
    if (this.#writing) {
      this.#handOver()
      return
    }
    for (const chunk of this.#lines.take()) writeAll(this.#fd, chunk)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.flush()
  }

  #handOver(): void {
    for (const chunk of this.#lines.take()) this.#enqueue(chunk)
  }

  #enqueue(chunk: Buffer): void {
    if (this.#waitingBytes >= MAX_WAITING) return
    this.#waiting.push(chunk)
    this.#waitingBytes += chunk.length
    if (!this.#writing) this.#writeNext()
  }

  #writeNext(): void {
    const chunk = this.#waiting.shift()
    this.#writing = chunk !== undefined
    if (chunk === undefined) return
    this.#waitingBytes -= chunk.length
    write(this.#fd, chunk, (error, bytes) =>
      this.#written(chunk, error === null ? bytes : 0, error),
    )
  }

  #written(chunk: Buffer, bytes: number, error: NodeJS.ErrnoException | null): void {
    if (bytes < chunk.length) {
      this.#waiting.unshift(chunk.subarray(bytes))
      this.#waitingBytes += chunk.length - bytes
    }
    if (error === null) this.#writeNext()
    else if (error.code === 'EAGAIN') setTimeout(() => this.#writeNext(), RETRY_MS)
    else this.#stop()
  }

  /** The reader is gone or the disk is full: drops the waiting lines. Later ones are tried again. */
  #stop(): void {
    this.#waiting.length = 0
    this.#waitingBytes = 0
    this.#writing = false
  }
}

const FLUSH_TRIES = 100

/** A full pipe reports EAGAIN; waits for its reader for at most a second. */
function writeAll(fd: number, chunk: Buffer): void {
  let rest = chunk
  for (let tries = 0; rest.length > 0 && tries < FLUSH_TRIES; tries++) {
    try {
      rest = rest.subarray(writeSync(fd, rest))
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
    }
  }
}
