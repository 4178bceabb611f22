import type { BrowserContextOptions } from 'playwright-core'
import { type Visitor, visitors } from '../pages/browser.ts'
import { openSite, type Site } from '../pages/site.ts'
import { freshly } from '../support/scene/freshly.ts'
import { signUp } from '../support/sign-in.ts'

interface SignedIn extends Site {
  /** Of the user's session. */
  readonly token: string
}

async function openSignedIn(setUp: (at: SignedIn) => Promise<void>): Promise<SignedIn> {
  const site = await openSite()
  const at = { ...site, token: await signUp(site.app) }
  await setUp(at)
  return at
}

/**
 * Opens pages of the dashboard in Chromium, as a user who has signed in to the site. `keep` says whether all tests
 * have one site, or each test a site of its own.
 */
export function browseSignedIn(keep = freshly, setUp = async (_: SignedIn) => {}) {
  const openVisitor = visitors()
  const site = keep(() => openSignedIn(setUp))
  return {
    site,
    open: async (path: string, options: BrowserContextOptions = {}): Promise<Visitor> => {
      const visitor = await openVisitor(options)
      const cookie = { name: 'meridian_dashboard', value: site.token, url: `${site.origin}/app` }
      await visitor.page.context().addCookies([cookie])
      await visitor.page.goto(`${site.origin}${path}`)
      return visitor
    },
  }
}
