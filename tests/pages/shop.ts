import { createServer } from 'node:http'
import { listen } from './listen.ts'

export interface ShopPage {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Shop {
  /** Without a slash at the end. */
  readonly origin: string
  close(): Promise<void>
}

const NOT_FOUND: ShopPage = { body: '', headers: {} }

/**
 * A site of its own origin, with a page for each path. By two more, one page tells another: /awaited
 * is answered once /told has been asked for.
 */
export async function openShop(pages: Readonly<Record<string, ShopPage>>): Promise<Shop> {
  const told = Promise.withResolvers<void>()
  const server = createServer(async ({ url = '/' }, response) => {
    const path = url.replace(/\?.*/, '')
    if (path === '/told') told.resolve()
    if (path === '/awaited') await told.promise
    const { body, headers } = pages[path] ?? NOT_FOUND
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers })
    response.end(body)
  })
  const origin = await listen(server, 'localhost')
  return {
    origin,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
