import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openConnection } from '../../support/raw-connection.ts'

/** Turns of the event loop in which nothing happens once the server has read and answered everything. */
const QUIET_TURNS = 4
/** Turns without progress before which no wait gives up. */
const IDLE_TURNS = 200

/** Both ends of the connections to a server in this process. */
export interface WatchedServer {
  readonly url: string
  /** The server's end of the connection from this port. */
  socketOf(port: number | undefined): Promise<Socket>
  /** Requests of the connection that are not answered yet. */
  unansweredOf(socket: Socket): number
  /** Whether bytes within the body of a request could not be read. */
  hasBadBody(socket: Socket): boolean
  close(): Promise<void>
}

/** Listens, and watches what the server reads and answers. */
export async function watch(server: Server): Promise<WatchedServer> {
  const sockets = new Map<number, Socket>()
  const unanswered = new WeakMap<Socket, number>()
  const last = new WeakMap<Duplex, IncomingMessage>()
  const withBadBody = new WeakSet<Duplex>()
  const add = (socket: Socket, requests: number) =>
    unanswered.set(socket, (unanswered.get(socket) ?? 0) + requests)
  server.prependListener('connection', (socket: Socket) => {
    const { remotePort = 0 } = socket
    sockets.set(remotePort, socket)
    socket.once('close', () => sockets.delete(remotePort))
  })
  server.prependListener('clientError', (_, socket) => {
    if (last.get(socket)?.complete === false) withBadBody.add(socket)
  })
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    last.set(socket, request)
    add(socket, 1)
    response.once('close', () => add(socket, -1))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    socketOf: async (port = 0) => {
      for (let turn = 0; turn < 10_000; turn++) {
        const socket = sockets.get(port)
        if (socket !== undefined) return socket
        await nextTurn()
      }
      throw new Error('The server has not taken the connection')
    },
    hasBadBody: (socket) => withBadBody.has(socket),
    unansweredOf: (socket) => unanswered.get(socket) ?? 0,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export interface WatchedConnection {
  send(bytes: string): void
  /** Resolves when the server has read all bytes. */
  read(): Promise<void>
  /** Resolves when the server has answered everything, or has done nothing for a while. */
  settled(): Promise<void>
  /** Everything received since the last call. */
  take(): string
  isClosed(): boolean
  hasBadBody(): boolean
  /** Reads no answers until `resume` is called. */
  pause(): void
  resume(): void
  close(): void
  reset(): void
}

/** Opens a connection. `patience`: milliseconds without any progress after which it counts as settled. */
export async function connectTo(
  server: WatchedServer,
  patience: number,
): Promise<WatchedConnection> {
  const { socket, received } = await openConnection(server.url)
  const serverSocket = await server.socketOf(socket.localPort)
  socket.setNoDelay()
  let sent = 0
  let taken = 0
  const hasRead = () => serverSocket.destroyed || serverSocket.bytesRead >= sent
  const isEven = () =>
    hasRead() &&
    server.unansweredOf(serverSocket) === 0 &&
    socket.bytesRead === serverSocket.bytesWritten &&
    // The server has no more bytes to parse.
    !serverSocket.isPaused() &&
    !serverSocket.writableEnded
  const progress = () =>
    `${serverSocket.bytesRead} ${serverSocket.bytesWritten} ${socket.bytesRead}`
  const until = async (isDone: () => boolean, turns: number) => {
    let [last, since, quiet, idle] = [progress(), performance.now(), 0, 0]
    // After a pause of the whole process the time is over, but nothing has run.
    const isPatient = () => idle < IDLE_TURNS || performance.now() - since < patience
    while (!socket.closed && quiet < turns && isPatient()) {
      await nextTurn()
      idle += 1
      quiet = isDone() ? quiet + 1 : 0
      if (progress() !== last) [last, since, quiet, idle] = [progress(), performance.now(), 0, 0]
    }
  }
  return {
    send: (bytes) => {
      if (!socket.writable) return
      sent += bytes.length
      socket.write(bytes, 'latin1')
    },
    read: () => until(hasRead, 1),
    settled: () => until(isEven, QUIET_TURNS),
    take: () => {
      const text = received().slice(taken)
      taken += text.length
      return text
    },
    isClosed: () => socket.closed,
    hasBadBody: () => server.hasBadBody(serverSocket),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.destroy(),
    reset: () => socket.resetAndDestroy(),
  }
}
