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
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // safe: it listens on a port
  const { port } = server.address() as AddressInfo
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    server,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
      if (failures.length > 0) throw new AggregateError(failures, 'a handler has failed')
    },
  }
}
