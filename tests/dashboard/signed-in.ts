import { after, afterEach, before, beforeEach } from 'node:test'
import type { BrowserContextOptions } from 'playwright-core'
import { openBrowser, type TestBrowser, type Visitor } from '../pages/browser.ts'
import { openSite, type Site } from '../pages/site.ts'
import { signUp } from '../support/sign-in.ts'

/** Opens pages of the dashboard in Chromium. Each test has a site and a signed-in user of its own. */
export function browseSignedIn() {
  let browser: TestBrowser
  let site: Site
  let token: string
  let opened: Visitor[]
  before(async () => {
    browser = await openBrowser()
  })
  after(() => browser.close())
  beforeEach(async () => {
    site = await openSite()
    token = await signUp(site.app)
    opened = []
  })
  afterEach(async () => {
    for (const { page } of opened) await page.context().close()
    await site[Symbol.asyncDispose]()
  })
  return {
    site: () => site,
    token: () => token,
    open: async (path: string, options: BrowserContextOptions = {}): Promise<Visitor> => {
      const visitor = await browser.visitor(options)
      opened.push(visitor)
      const cookie = { name: 'meridian_dashboard', value: token, url: `${site.origin}/app` }
      await visitor.page.context().addCookies([cookie])
      await visitor.page.goto(`${site.origin}${path}`)
      return visitor
    },
  }
}
