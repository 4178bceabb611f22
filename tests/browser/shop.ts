import { createServer } from 'node:http'
import { listen } from './listen.ts'

export interface ShopPage {
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Shop {
  /** Without a slash at the end. */
  readonly origin: string
  close(): Promise<void>
}

const NOT_FOUND: ShopPage = { body: 'No such page' }

/** A site of its own origin, with a page for each path. */
export async function openShop(pages: Readonly<Record<string, ShopPage>>): Promise<Shop> {
  const server = createServer(({ url = '/' }, response) => {
    const path = url.replace(/\?.*/, '')
    const { body, headers } = pages[path] ?? NOT_FOUND
    response.writeHead(path in pages ? 200 : 404, {
      'content-type': 'text/html; charset=utf-8',
      ...headers,
    })
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
