import { startLoopbackServer } from '../../support/loopback-server.ts'

export interface ShopPage {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Shop extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly origin: string
}

const NOT_FOUND: ShopPage = { body: '', headers: {} }

/**
 * Starts a site with its own origin and a page per path. Two extra paths let one page wait for
 * another: /awaited answers once /requested has been requested.
 */
export async function openShop(pages: Readonly<Record<string, ShopPage>>): Promise<Shop> {
  const requested = Promise.withResolvers<void>()
  const loopback = await startLoopbackServer(async ({ url = '/' }, response) => {
    const path = url.replace(/\?.*/, '')
    if (path === '/requested') requested.resolve()
    if (path === '/awaited') await requested.promise
    const { body, headers } = pages[path] ?? NOT_FOUND
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers })
    response.end(body)
  })
  return {
    // Another host than that of the service, so that the two are different sites.
    origin: `http://localhost:${loopback.port}`,
    [Symbol.asyncDispose]: loopback[Symbol.asyncDispose],
  }
}
