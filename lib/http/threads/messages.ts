import type { ListenAddress } from '../listen.ts'

/** An event of a connection. `id`: the number of the connection in its network thread. */
export type ConnectionEvent = { readonly id: number } & (
  | ({ readonly kind: 'opened' } & Peer)
  | { readonly kind: 'read'; readonly bytes: Uint8Array }
  | { readonly kind: 'ended' | 'written' | 'timed-out' }
  /** `error`: the error that closed the connection, if one did. */
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
  /** The server has taken another `count` of the bytes that the thread has reported. */
  | { readonly kind: 'taken'; readonly count: number }
  /** The first `count` bytes of the connection are answered. If the thread has reported no others, it may answer. */
  | { readonly kind: 'answered'; readonly count: number }
  /** Report `timed-out` when nothing was sent or received for this long; 0: never. */
  | { readonly kind: 'set-timeout'; readonly ms: number }
)

/** What a network thread sends. */
export interface FromThread {
  readonly events?: readonly ConnectionEvent[]
  /** For `NetworkThreadsOptions.onNews`. */
  readonly news?: unknown
  /** The answer to `listen`: why it failed; null: it succeeded. */
  readonly failure?: string | null
  /** The answer to `stopListening`. */
  readonly isClosed?: true
  /** The answer to `finish`: everything is sent. */
  readonly isFinished?: true
}

/** What a network thread receives. */
export interface ToThread {
  readonly commands?: readonly Command[]
  /** For `NetworkOptions.onReply`. */
  readonly reply?: unknown
  readonly listen?: ListenAddress
  readonly stopListening?: true
  readonly finish?: true
}

/** Copies bytes that are part of a larger buffer: otherwise, a message would copy the whole buffer. */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}
