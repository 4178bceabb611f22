import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { VERSION } from '../../lib/config/version.ts'
import { Frame } from '../../pages/dashboard/parts/frame.tsx'
import { OPERATOR_RAIL } from '../../pages/dashboard/parts/rails.ts'
import { PAGE_HEADERS } from '../../routes/pages/page.ts'
import { loadPageAsset, pageAssets } from '../../routes/pages/page-assets.ts'
import { Kit } from './kit.tsx'

const PATH = '/app/kit'
const LOOPBACK = '127.0.0.1'

interface ServedKit extends AsyncDisposable {
  readonly url: string
}

/** Serves the page of all parts on loopback. It is not a page of the product: no server has it. */
export async function serveKit(port: number): Promise<ServedKit> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(404).end())
  })
  await once(server.listen(port, LOOPBACK), 'listening')
  const address = server.address()
  const used = address !== null && typeof address === 'object' ? address.port : port
  return {
    url: `http://${LOOPBACK}:${used}${PATH}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

async function answer({ url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = url.split('?', 1)[0] ?? ''
  if (path === PATH) {
    response.writeHead(200, PAGE_HEADERS).end(`<!doctype html>${await page()}`)
    return
  }
  const { asset, headers } = await loadPageAsset(path)
  response.writeHead(200, headers).end(asset.bytes)
}

async function page() {
  return Frame({
    instance: { base: '', version: VERSION },
    assets: await pageAssets('', 'app.css', 'app.js', 'usage.js'),
    title: 'Parts of pages',
    path: PATH,
    user: 'ada@example.com',
    rail: OPERATOR_RAIL,
    children: Kit(),
  })
}
