import { after, afterEach, before, beforeEach } from 'node:test'
import type { BrowserContextOptions } from 'playwright-core'
import { openBrowser, type TestBrowser, type Visitor } from './browser.ts'
import { openSite, type Site } from './site.ts'

/** Opens pages in a Chromium that can reach only the site. Each test has a site of its own. */
export function browseInside() {
  let browser: TestBrowser
  let site: Site
  let opened: Visitor[]
  let outside: string[]
  before(async () => {
    browser = await openBrowser()
  })
  after(() => browser.close())
  beforeEach(async () => {
    site = await openSite()
    opened = []
    outside = []
  })
  afterEach(async () => {
    for (const { page } of opened) await page.context().close()
    await site[Symbol.asyncDispose]()
  })
  return {
    site: () => site,
    /** Requests to addresses outside the site. */
    outsideRequests: () => outside,
    open: async (path: string, options: BrowserContextOptions = {}): Promise<Visitor> => {
      const visitor = await browser.visitor(options)
      opened.push(visitor)
      await visitor.page.context().route('**', async (route) => {
        const url = route.request().url()
        if (url.startsWith(`${site.origin}/`) || url.startsWith('data:')) return route.continue()
        outside.push(url)
        return route.abort()
      })
      await visitor.page.goto(`${site.origin}${path}`)
      return visitor
    },
  }
}
