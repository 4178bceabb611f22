import { Duplex } from 'node:stream'
import { type Command, type ConnectionError, ownBytes, type Peer } from './messages.ts'

type Order = Command extends infer One ? (One extends Command ? Omit<One, 'id'> : never) : never

type Written = (error?: Error | null) => void

/** Once this many bytes are taken, the network thread gets a report. */
const REPORT_TAKEN = 16 * 1024

/**
 * Represents a connection of a network thread. It has all methods and properties of the Socket of node:net
 * that node:http and this service use.
 */
export class RelayedSocket extends Duplex {
  readonly remoteAddress: string | undefined
  readonly remotePort: number | undefined
  bytesRead = 0
  readonly #order: (order: Order) => void
  /** Bytes that the network thread has written. */
  #sent = 0
  /** The bytes that the network thread is writing, and what to call once it has. */
  #writing: { readonly bytes: number; readonly done: Written } | null = null
  /** Bytes that are taken but not reported yet. */
  #taken = 0
  #isClosed = false
  #isReset = false

  /** `order` sends the network thread a command for the connection. */
  constructor({ remoteAddress, remotePort }: Peer, order: (order: Order) => void) {
    super({ allowHalfOpen: true })
    this.remoteAddress = remoteAddress
    this.remotePort = remotePort
    this.#order = order
  }

  get bytesWritten(): number {
    return this.#sent + this.writableLength
  }

  /** Lets the network thread know that all bytes it has reported so far are answered. */
  noteAnswered(): void {
    // Bytes that nobody has read yet are not answered.
    if (this.readableLength === 0) this.#send({ kind: 'answered', count: this.bytesRead })
  }

  /** Notes that these bytes have arrived. */
  receive(bytes: Uint8Array): void {
    if (this.destroyed) return
    this.bytesRead += bytes.length
    this.#taken += bytes.length
    if (this.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))) this.#reportTaken()
  }

  /** Notes that the client sends no more. */
  receiveEnd(): void {
    if (!this.destroyed) this.push(null)
  }

  /** Notes that the network thread has written what it was given. */
  noteWritten(): void {
    const writing = this.#writing
    this.#writing = null
    this.#sent += writing?.bytes ?? 0
    writing?.done()
  }

  /** Notes that the connection is closed. */
  noteClosed(error: ConnectionError | null): void {
    this.#isClosed = true
    if (error === null) this.destroy()
    else this.destroy(Object.assign(new Error(error.message), { code: error.code }))
  }

  setTimeout(ms: number, listener?: () => void): this {
    if (listener !== undefined) this.once('timeout', listener)
    this.#send({ kind: 'set-timeout', ms })
    return this
  }

  /** Network threads set this for all connections. */
  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  resetAndDestroy(): this {
    this.#isReset = true
    return this.destroy()
  }

  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }

  override _read(): void {
    this.#reportTaken()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Written): void {
    this.#writing = { bytes: chunk.length, done }
    this.#send({ kind: 'write', bytes: ownBytes(chunk) })
  }

  override _writev(parts: { readonly chunk: Buffer }[], done: Written): void {
    const chunk = Buffer.concat(parts.map((part) => part.chunk))
    this._write(chunk, 'buffer' as BufferEncoding, done)
  }

  override _final(done: Written): void {
    this.#send({ kind: 'end' })
    done()
  }

  override _destroy(error: Error | null, done: Written): void {
    this.#send({ kind: this.#isReset ? 'reset' : 'destroy' })
    done(error)
  }

  #reportTaken(): void {
    if (this.#taken < REPORT_TAKEN) return
    this.#send({ kind: 'taken', count: this.#taken })
    this.#taken = 0
  }

  #send(order: Order): void {
    if (!this.#isClosed) this.#order(order)
  }
}
