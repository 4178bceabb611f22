import type { ListenAddress } from '../listen.ts'

/** What happens on a connection, which the network thread has numbered. */
export type Report = { readonly id: number } & (
  | ({ readonly kind: 'opened' } & Peer)
  | { readonly kind: 'read'; readonly bytes: Uint8Array }
  | { readonly kind: 'ended' | 'written' | 'timed-out' }
  /** `error`: the reason, if it is one. */
  | { readonly kind: 'closed'; readonly error: ConnectionError | null }
)

/** The client's end of a connection. */
export interface Peer {
  readonly remoteAddress: string | undefined
  readonly remotePort: number | undefined
}

export interface ConnectionError {
  readonly code: string
  readonly message: string
}

/** What to do with a connection. */
export type Command = { readonly id: number } & (
  | { readonly kind: 'write'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' | 'destroy' | 'reset' }
  /** So many bytes that the thread has reported are taken. */
  | { readonly kind: 'taken'; readonly count: number }
  /** So many bytes in all are answered: if the thread has reported no others, it may answer requests itself. */
  | { readonly kind: 'answered'; readonly count: number }
  /** Report when nothing was sent or received for this long; 0: never. */
  | { readonly kind: 'set-timeout'; readonly ms: number }
)

/** What a network thread sends. */
export interface FromThread {
  readonly reports?: readonly Report[]
  /** For those who use the threads. */
  readonly news?: unknown
  /** The answer to `listen`: why it failed; null: it did not. */
  readonly failure?: string | null
  /** The answer to `stopListening`. */
  readonly isClosed?: true
  /** The answer to `finish`: everything is sent. */
  readonly isFinished?: true
}

/** What a network thread receives. */
export interface ToThread {
  readonly commands?: readonly Command[]
  /** From those who use the threads. */
  readonly note?: unknown
  readonly listen?: ListenAddress
  readonly stopListening?: true
  readonly finish?: true
}

/** Bytes that can be copied to another thread without the rest of the memory that they are part of. */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}
