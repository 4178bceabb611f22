import { getRequestListener } from '@hono/node-server'
import { makeApp, type TestApp } from '../support/helpers.ts'
import { startLoopbackServer } from '../support/loopback-server.ts'

/** The service on a real port, for browsers. */
export interface Site extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly origin: string
  readonly app: TestApp
}

/** The address of every visitor; it is in London. */
const VISITOR = '81.2.69.160'

export async function openSite(): Promise<Site> {
  const loopback = await startLoopbackServer((request, response) => listener(request, response))
  const { origin } = loopback
  const app = await makeApp({ env: { MERIDIAN_BASE_URL: origin }, now: Date.now })
  const listener = getRequestListener((request) =>
    app.app.fetch(request, { remoteAddress: VISITOR }),
  )
  return {
    origin,
    app,
    [Symbol.asyncDispose]: async () => {
      await loopback[Symbol.asyncDispose]()
      await app.close()
    },
  }
}
