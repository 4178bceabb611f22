import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { createDouble, type DoubleOptions, type StripeDouble } from './double.ts'
import { createApi } from './http/api.ts'
import { createControl } from './http/control.ts'
import { createPages } from './pages/pages.ts'

const HOST = '127.0.0.1'

/** Starts a double that listens on loopback. */
export async function startStripeDouble(options: DoubleOptions = {}): Promise<StripeDouble> {
  const app = new Hono<{ Bindings: HttpBindings }>()
  const server = createServer(getRequestListener(app.fetch))
  // Tests may keep the process busy for longer than the usual five seconds.
  server.keepAliveTimeout = 600_000
  server.listen(options.port ?? 0, HOST)
  await once(server, 'listening')
  // safe: a server that listens on a port has an AddressInfo
  const { port } = server.address() as AddressInfo
  const double = createDouble(`http://${HOST}:${port}`, options)
  app.route('/_double', createControl(double))
  app.route('/', createPages(double))
  app.route('/', createApi(double))
  return {
    ...double,
    async [Symbol.asyncDispose]() {
      await double[Symbol.asyncDispose]()
      server.close()
      server.closeAllConnections()
    },
  }
}
