import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../lib/assets/sources.ts'
import { openBrowser } from '../pages/browser.ts'
import { openSite } from '../pages/site.ts'
import { startLoopbackServer } from '../support/loopback-server.ts'

const ENTRY = fileURLToPath(new URL('../../sdk/typescript/src/index.ts', import.meta.url))

/** What a page does with the client: a module that shows in the title what it has found. */
const script = (url: string, key: string) => `
  import { Meridian } from '/client.js'
  const client = new Meridian(${JSON.stringify({ url, key })})
  const [me, list, error] = await Promise.all([
    client.me(),
    client.locateMany(['81.2.69.160', 'nowhere']),
    client.asn(64496).catch((error) => error),
  ])
  document.title = [me.location.city, list[0].location.city, list[1].error.code, error.code].join()
`

describe('the TypeScript client in a browser', () => {
  it('looks up addresses with a publishable key, on a page of another origin', async () => {
    const client = await bundle('', { entryPoints: [ENTRY], format: 'esm' })
    await using site = await openSite()
    await using shop = await startLoopbackServer(async (request, response) => {
      response.setHeader('content-type', request.url === '/' ? 'text/html' : 'text/javascript')
      if (request.url === '/') response.end('<script type="module" src="/main.js"></script>')
      else if (request.url === '/client.js') response.end(client)
      else response.end(script(site.origin, key))
    })
    const key = await site.app.makeKey({ type: 'publishable', origins: [shop.origin] })
    const browser = await openBrowser()
    try {
      const { page } = await browser.visitor()
      await page.goto(shop.origin)
      await page.waitForFunction('document.title')
      assert.equal(await page.title(), 'London,London,BAD_REQUEST,NOT_FOUND')
    } finally {
      await browser.close()
    }
  })
})
