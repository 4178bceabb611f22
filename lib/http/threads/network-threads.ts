import type { Server } from 'node:http'
import { Worker } from 'node:worker_threads'
import { createOutbox } from '../../process/outbox.ts'
import type { ListenAddress } from '../listen.ts'
import type { Command, ConnectionEvent, FromThread, Peer, ToThread } from './messages.ts'
import { RelayedSocket } from './relayed-socket.ts'

export interface NetworkThreadsOptions {
  readonly count: number
  /** The file that calls `serveNetwork`. */
  readonly url: URL
  /** What each thread gets as its `workerData`. */
  readonly data: unknown
  /** Gets the news of a thread. `reply` sends that thread a message. */
  readonly onNews: (news: unknown, reply: (message: unknown) => void) => void
  /** Called if a thread ends by itself. */
  readonly onCrash: (error: unknown) => void
}

export type NetworkThreads = Awaited<ReturnType<typeof startNetworkThreads>>

/**
 * Starts threads that accept connections and answer plain requests by themselves. `server` answers the
 * others, over sockets that represent these connections.
 */
export async function startNetworkThreads(server: Server, options: NetworkThreadsOptions) {
  await using opening = new AsyncDisposableStack()
  const threads = Array.from({ length: options.count }, (_, at) =>
    opening.use(startThread(server, `network ${at + 1}`, options)),
  )
  const opened = opening.move()
  return {
    /** Listens on the address. Rejects if that is impossible. */
    listen: async (address: ListenAddress) => {
      await Promise.all(threads.map((thread) => thread.listen(address)))
    },
    /** Refuses new connections. Resolves once all threads do. */
    stopListening: async () => {
      await Promise.all(threads.map((thread) => thread.stopListening()))
    },
    /** Resolves once no connection is open. */
    whenClosed: async () => {
      await Promise.all(threads.map((thread) => thread.whenClosed()))
    },
    /** Resolves once all news has arrived. */
    finish: async () => {
      await Promise.all(threads.map((thread) => thread.finish()))
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

function startThread(
  server: Server,
  name: string,
  { url, data, onNews, onCrash }: NetworkThreadsOptions,
) {
  const worker = new Worker(url, { name, workerData: data, execArgv: [] })
  const crashed = (code: number) => onCrash(new Error(`the ${name} thread has ended with ${code}`))
  worker.on('error', onCrash)
  worker.on('exit', crashed)
  const post = (message: ToThread) => worker.postMessage(message)
  // Sent at the end of the current callback, because a client waits for the answer.
  const outbox = createOutbox<Command>((commands) => post({ commands }), queueMicrotask)
  const connections = openConnections(server, outbox)
  const listening = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  const finished = Promise.withResolvers<void>()
  const take = ({ isClosed, isFinished, failure }: FromThread) => {
    if (isClosed === true) closed.resolve()
    if (isFinished === true) finished.resolve()
    if (failure === null) listening.resolve()
    else if (failure !== undefined) listening.reject(new Error(failure))
  }
  worker.on('message', ({ events = [], news, ...answers }: FromThread) => {
    events.forEach(connections.handle)
    if (news !== undefined) onNews(news, (reply) => post({ reply }))
    take(answers)
  })
  const askFor = async (message: ToThread, answered: Promise<void>) => {
    post(message)
    await answered
  }
  return {
    listen: (address: ListenAddress) => askFor({ listen: address }, listening.promise),
    stopListening: () => askFor({ stopListening: true }, closed.promise),
    finish: () => askFor({ finish: true }, finished.promise),
    whenClosed: connections.whenClosed,
    [Symbol.asyncDispose]: async () => {
      worker.off('exit', crashed)
      await worker.terminate()
    },
  }
}

/** The connections of one thread. */
function openConnections(server: Server, order: (command: Command) => void) {
  const sockets = new Map<number, RelayedSocket>()
  let none = Promise.withResolvers<void>()
  none.resolve()
  const open = (id: number, peer: Peer) => {
    if (sockets.size === 0) none = Promise.withResolvers()
    const socket = new RelayedSocket(peer, (given) => order({ ...given, id }))
    sockets.set(id, socket)
    server.emit('connection', socket)
  }
  const close = (id: number) => {
    sockets.delete(id)
    if (sockets.size === 0) none.resolve()
  }
  return {
    handle: (event: ConnectionEvent) => {
      if (event.kind === 'opened') open(event.id, event)
      else notify(sockets.get(event.id), event)
      if (event.kind === 'closed') close(event.id)
    },
    whenClosed: () => none.promise,
  }
}

function notify(
  socket: RelayedSocket | undefined,
  event: Exclude<ConnectionEvent, { readonly kind: 'opened' }>,
): void {
  switch (event.kind) {
    case 'read':
      socket?.receive(event.bytes)
      return
    case 'ended':
      socket?.receiveEnd()
      return
    case 'written':
      socket?.noteWritten()
      return
    case 'timed-out':
      socket?.emit('timeout')
      return
    case 'closed':
      socket?.noteClosed(event.error)
      return
  }
}
