import { beforeEach } from 'node:test'
import type { BrowserContextOptions } from 'playwright-core'
import { freshly } from '../support/scene/freshly.ts'
import { type Visitor, visitors } from './browser.ts'
import { openSite } from './site.ts'

/** Opens pages in a Chromium that can reach only the site. Each test has a site of its own. */
export function browseInside() {
  const openVisitor = visitors()
  const site = freshly(openSite)
  let outside: string[]
  beforeEach(() => {
    outside = []
  })
  return {
    site,
    /** Requests to addresses outside the site. */
    outsideRequests: () => outside,
    open: async (path: string, options: BrowserContextOptions = {}): Promise<Visitor> => {
      const visitor = await openVisitor(options)
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
