import { existsSync } from 'node:fs'
import { type BrowserContext, chromium, type Page } from 'playwright-core'

const EXECUTABLES = [
  process.env['CHROMIUM'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]
/** A browser that says it is headless is a bot. */
const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36'

export interface Visitor {
  readonly page: Page
  /** What the console has shown as errors, and what the page has thrown. */
  readonly troubles: readonly string[]
}

export interface TestBrowser {
  /** A new browser profile with one tab. */
  visitor(): Promise<Visitor>
  close(): Promise<void>
}

/** Starts the Chromium of the system, with the back/forward cache that Playwright would turn off. */
export async function openBrowser(): Promise<TestBrowser> {
  const browser = await chromium.launch({
    executablePath: EXECUTABLES.find((path) => existsSync(path)) ?? 'chromium',
    // Containers run tests as root, where Chromium has no sandbox.
    args: ['--no-sandbox', '--disable-blink-features=AutomationControlled'],
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  })
  return {
    visitor: async () => watch(await browser.newContext({ userAgent: USER_AGENT })),
    close: () => browser.close(),
  }
}

async function watch(context: BrowserContext): Promise<Visitor> {
  const page = await context.newPage()
  const troubles: string[] = []
  page.on('pageerror', (error) => troubles.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') troubles.push(message.text())
  })
  return { page, troubles }
}
