import type { Server } from 'node:http'
import { type ListenAddress, listen } from './listen.ts'
import { stopServer } from './stop.ts'
import { type NetworkThreadsOptions, startNetworkThreads } from './threads/network-threads.ts'

export interface ListeningServer {
  /** Refuses new connections, closes idle ones, lets requests finish, and ends the threads. */
  readonly stop: () => Promise<void>
}

/**
 * Makes `server` listen in this thread and in `threads.count` others. `onUrl` gets the URL before any request
 * is served.
 */
export async function openListeningServer(
  server: Server,
  address: ListenAddress,
  threads: NetworkThreadsOptions,
  onUrl: (url: string) => void,
): Promise<ListeningServer> {
  if (threads.count === 0) {
    onUrl(await listen(server, address))
    return { stop: () => stopServer(server) }
  }
  await using starting = new AsyncDisposableStack()
  const others = starting.use(await startNetworkThreads(server, threads))
  const url = await listen(server, { ...address, reusePort: true })
  onUrl(url)
  // If the port was 0, the system has chosen one.
  await others.listen({ ...address, port: Number(new URL(url).port), reusePort: true })
  const started = starting.move()
  return {
    stop: async () => {
      await stopServer(server, undefined, others)
      await started.disposeAsync()
    },
  }
}
