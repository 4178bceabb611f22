import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface LoopbackServer {
  readonly port: number
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string
  readonly server: Server
  [Symbol.asyncDispose](): Promise<void>
}

export type Handle = (request: IncomingMessage, response: ServerResponse) => unknown

/**
 * Starts an HTTP server on 127.0.0.1. A rejection of `handle` is ignored if the client
 * aborted the request; any other is answered 500 and thrown when the server is disposed of.
 */
export async function startLoopbackServer(handle: Handle): Promise<LoopbackServer> {
  const failures: unknown[] = []
  const server = createServer(async (request, response) => {
    try {
      await handle(request, response)
    } catch (error) {
      if (request.errored !== null) return
      failures.push(error)
      if (!response.headersSent) response.writeHead(500)
      response.end()
    }
  })
  const origin = await listenLocally(server)
  return {
    port: Number(new URL(origin).port),
    origin,
    server,
    [Symbol.asyncDispose]: async () => {
      await closeServer(server)
      if (failures.length > 0) throw new AggregateError(failures, 'a handler has failed')
    },
  }
}

/** Makes the server listen on any port of 127.0.0.1. Returns its URL. */
export async function listenLocally(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // safe: it listens on a port
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Closes the server with all its connections, unless it is closed. */
export async function closeServer(server: Server): Promise<void> {
  const closed = server.listening ? once(server, 'close') : undefined
  server.close()
  server.closeAllConnections()
  await closed
}
