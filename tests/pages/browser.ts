import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'

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
  visitor(options?: BrowserContextOptions): Promise<Visitor>
  close(): Promise<void>
}

function executable(): string {
  return EXECUTABLES.find((path) => existsSync(path)) ?? 'chromium'
}

/** Starts the Chromium of the system, with the back/forward cache that Playwright would turn off. */
export async function openBrowser(): Promise<TestBrowser> {
  const browser = await chromium.launch({
    executablePath: executable(),
    // Containers run tests as root, where Chromium has no sandbox.
    args: [
      '--no-sandbox',
      '--disable-blink-features=AutomationControlled',
      // Not that of a context: what is sent as a page goes away may have the one of the browser.
      `--user-agent=${USER_AGENT}`,
    ],
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  })
  return {
    visitor: async (options = {}) => watch(await browser.newContext(options)),
    close: () => browser.close(),
  }
}

/** Opens a page in a Chromium that nothing drives: one that is driven does not prerender. */
export async function browseAlone(url: string): Promise<AsyncDisposable> {
  const profile = mkdtempSync(join(tmpdir(), 'meridian-chromium-'))
  const flags = ['--headless=new', '--no-sandbox', '--no-first-run', '--disable-gpu']
  const named = [`--user-data-dir=${profile}`, `--user-agent=${USER_AGENT}`]
  const child = spawn(executable(), [...flags, ...named, url], { stdio: 'ignore' })
  const closed = once(child, 'close')
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill()
      await closed
      rmSync(profile, { recursive: true, force: true, maxRetries: 10 })
    },
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
