import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export interface ReaderLimits {
  /** Milliseconds in which a client must take some of what waits for it. */
  readonly longestMs: number
  /** What may wait on all connections together. */
  readonly mostBytes: number
  readonly checkEveryMs: number
}

/** What is known of a connection on which something waits to be sent. */
interface Waiting {
  /** Bytes that the client had taken when that was last seen to change. */
  readonly taken: number
  /** Monotonic milliseconds. */
  readonly since: number
}

/**
 * Resets connections of `server` whose client takes nothing of what waits to be sent: an answer that
 * nobody reads would stay in memory for as long as the client likes, while node:http limits only how
 * slowly a request comes. Where too much waits, those go first that have taken nothing for longest.
 */
export function resetSlowReaders(server: Server, limits: ReaderLimits): void {
  const open = new Set<Socket>()
  const waiting = new Map<Socket, Waiting>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => {
      open.delete(socket)
      waiting.delete(socket)
    })
  })
  const timer = setInterval(() => {
    const now = performance.now()
    for (const socket of open) look(socket, waiting, now)
    resetAbove(waiting, limits, now)
  }, limits.checkEveryMs)
  timer.unref()
  server.once('close', () => clearInterval(timer))
}

function look(socket: Socket, waiting: Map<Socket, Waiting>, now: number): void {
  const unsent = socket.writableLength
  if (unsent === 0) {
    waiting.delete(socket)
    return
  }
  const taken = socket.bytesWritten - unsent
  if (waiting.get(socket)?.taken === taken) return
  // Those that have waited for longest stand first.
  waiting.delete(socket)
  waiting.set(socket, { taken, since: now })
}

function resetAbove(
  waiting: Map<Socket, Waiting>,
  { longestMs, mostBytes }: ReaderLimits,
  now: number,
): void {
  let bytes = 0
  for (const socket of waiting.keys()) bytes += socket.writableLength
  for (const [socket, { since }] of waiting) {
    if (bytes <= mostBytes && now - since < longestMs) return
    bytes -= socket.writableLength
    // To end it in order would wait for the client once more.
    socket.resetAndDestroy()
  }
}
