import { writeFile } from 'node:fs/promises'
import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import { makeSource, type SourceName } from '../../../lib/assets/sources.ts'
import { reasonOf } from '../../../lib/parts/reason.ts'

/** Allows only what the page contains. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

const FONT = /(?:\/\*! Geist[^*]*\*\/\s*)?@font-face\s*\{[^}]*\}/g

interface Page {
  readonly title: string
  readonly styles: readonly SourceName[]
  /** More style rules. */
  readonly ownStyles?: string
  readonly content: Child
}

/** Writes a page that needs no other file. */
export async function writePage(path: string, page: Page): Promise<void> {
  const html = await toHtml(page)
  try {
    await writeFile(path, html)
  } catch (cause) {
    throw new Error(`Cannot write ${path}: ${reasonOf(cause)}`, { cause })
  }
}

async function toHtml({ title, styles, ownStyles = '', content }: Page): Promise<string> {
  const sheets = await Promise.all(styles.map(makeSource))
  // The font is a file of its own: the system's stands in for it.
  const texts = sheets.map((bytes) => Buffer.from(bytes).toString().replaceAll(FONT, ''))
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content={CONTENT_SECURITY_POLICY} />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        <style>{raw([...texts, ownStyles].join('\n'))}</style>
      </head>
      <body>
        <main class="list-page">
          <h1>{title}</h1>
          {content}
        </main>
      </body>
    </html>
  )
  return `<!doctype html>\n${await page}`
}
