import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { makeApp, type TestApp } from '../helpers.ts'
import { listen } from './listen.ts'

/** The service itself, to be browsed. */
export interface Site extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly origin: string
  readonly app: TestApp
}

/** Its visitors come from London, whatever machine they are on. */
const VISITOR = '81.2.69.160'

export async function openSite(): Promise<Site> {
  const server = createServer()
  const origin = await listen(server, '127.0.0.1')
  const app = await makeApp({ env: { MERIDIAN_BASE_URL: origin }, now: Date.now })
  server.on(
    'request',
    getRequestListener((request) => app.app.fetch(request, { remoteAddress: VISITOR })),
  )
  return {
    origin,
    app,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      app.close()
    },
  }
}
