import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach } from 'node:test'
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
/** The service treats a user agent with “Headless” as a bot. */
const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36'

export interface Visitor {
  readonly page: Page
  /** Errors in the console and exceptions of the page. */
  readonly errors: readonly string[]
}

export interface TestBrowser {
  /** A new browser profile with one tab. */
  visitor(options?: BrowserContextOptions): Promise<Visitor>
  close(): Promise<void>
}

function executable(): string {
  return EXECUTABLES.find((path) => existsSync(path)) ?? 'chromium'
}

/** Starts the installed Chromium, with the back/forward cache that Playwright would disable. */
export async function openBrowser(): Promise<TestBrowser> {
  const browser = await chromium.launch({
    executablePath: executable(),
    // Containers run tests as root, and Chromium refuses its sandbox for root.
    args: [
      '--no-sandbox',
      '--disable-blink-features=AutomationControlled',
      // For the whole browser: a beacon sent during unload ignores the user agent of the context.
      `--user-agent=${USER_AGENT}`,
    ],
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  })
  return {
    visitor: async (options = {}) => watch(await browser.newContext(options)),
    close: () => browser.close(),
  }
}

/** Opens tabs of one Chromium, each in a new profile, which is closed after the test. */
export function visitors(): TestBrowser['visitor'] {
  let browser: Promise<TestBrowser> | undefined
  const opened: Visitor[] = []
  afterEach(async () => {
    for (const { page } of opened.splice(0)) await page.context().close()
  })
  after(async () => (await browser)?.close())
  return async (options) => {
    browser ??= openBrowser()
    const visitor = await (await browser).visitor(options)
    opened.push(visitor)
    return visitor
  }
}

/** Opens a page in Chromium without Playwright, because an automated Chromium does not prerender. */
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
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  return { page, errors }
}
