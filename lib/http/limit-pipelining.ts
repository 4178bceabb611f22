import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'

/** A connection that sends this many times more requests than are answered is a flood. */
const FLOOD = 4
/** Milliseconds for which the sender of a flood cannot connect again. */
const REFUSED_MS = 2_000

/**
 * Wraps `listener` so that it gets only the first `most` requests that a connection sends at once.
 * The answer to the last of these closes the connection, and the client sends the others again (RFC
 * 9112 section 9.3.2). Only Bun needs this: it reads all requests of a chunk before it serves other
 * connections, and only destroying a connection stops that. So this destroys the connection of a flood,
 * and refuses its address for a while.
 */
export function limitPipelining(
  server: Server,
  listener: RequestListener,
  most: number,
): RequestListener {
  /** Requests of this turn of the event loop. */
  const counts = new Map<Socket, number>()
  /** Addresses that have sent floods. */
  const refused = new Set<Socket['remoteAddress']>()
  server.prependListener('connection', (socket: Socket) => {
    if (refused.has(socket.remoteAddress)) socket.destroy()
  })
  return (request, response) => {
    if (counts.size === 0) setImmediate(() => counts.clear())
    const { socket } = request
    const count = (counts.get(socket) ?? 0) + 1
    counts.set(socket, count)
    if (count === FLOOD * most) {
      const { remoteAddress } = socket
      refused.add(remoteAddress)
      setTimeout(() => refused.delete(remoteAddress), REFUSED_MS).unref()
      socket.destroy()
    }
    if (count > most) return
    if (count === most) response.setHeader('connection', 'close')
    listener(request, response)
  }
}
