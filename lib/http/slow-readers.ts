import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { nameRuntime } from '../config/runtime.ts'
import type { OpenConnections } from './connections.ts'

export interface ReaderLimits {
  /** Milliseconds within which a client must read at least some of its waiting bytes. */
  readonly maxWaitMs: number
  /** Unsent bytes allowed on all connections together. */
  readonly maxBytes: number
  readonly checkEveryMs: number
}

/** When the client of a connection with unsent bytes last made progress. */
interface Waiting {
  /** How many bytes the client had read then. */
  readonly taken: number
  /** Monotonic milliseconds. */
  readonly since: number
}

/** Returns the number of unsent bytes of a connection. */
type CountUnsent = (socket: Socket) => number

/**
 * Resets connections of `server` whose client does not read: node:http limits only how slowly a
 * request arrives, and an unread answer would stay in memory as long as the connection. If too many
 * bytes wait, the connections that have read nothing for longest are reset first.
 */
export function resetSlowReaders(
  server: Server,
  open: OpenConnections,
  limits: ReaderLimits,
): void {
  const unsent = createCountUnsent(server)
  const waiting = new Map<Socket, Waiting>()
  const timer = setInterval(() => {
    const now = performance.now()
    for (const socket of waiting.keys()) if (socket.destroyed) waiting.delete(socket)
    for (const socket of open.keys()) check(socket, unsent(socket), waiting, now)
    resetAbove(waiting, unsent, limits, now)
  }, limits.checkEveryMs)
  timer.unref()
  server.once('close', () => clearInterval(timer))
}

/** Bun keeps unsent bytes in the response, not in the socket. */
function createCountUnsent(server: Server): CountUnsent {
  if (nameRuntime(process.versions) !== 'bun') return ({ writableLength }) => writableLength
  const responses = new WeakMap<Socket, ServerResponse>()
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    responses.set(socket, response)
  })
  return (socket) => responses.get(socket)?.writableLength ?? 0
}

function check(socket: Socket, unsent: number, waiting: Map<Socket, Waiting>, now: number): void {
  if (unsent === 0) {
    waiting.delete(socket)
    return
  }
  const taken = socket.bytesWritten - unsent
  if (waiting.get(socket)?.taken === taken) return
  // Moves it to the end, so that the connections that have waited longest come first.
  waiting.delete(socket)
  waiting.set(socket, { taken, since: now })
}

function resetAbove(
  waiting: Map<Socket, Waiting>,
  unsent: CountUnsent,
  { maxWaitMs, maxBytes }: ReaderLimits,
  now: number,
): void {
  let bytes = 0
  for (const socket of waiting.keys()) bytes += unsent(socket)
  for (const [socket, { since }] of waiting) {
    if (bytes <= maxBytes && now - since < maxWaitMs) return
    bytes -= unsent(socket)
    // A regular close would wait for the client again.
    socket.resetAndDestroy()
  }
}
