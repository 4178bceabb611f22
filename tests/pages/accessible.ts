import assert from 'node:assert/strict'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import * as v from 'valibot'

const Violations = v.array(
  v.object({ id: v.string(), nodes: v.array(v.object({ html: v.string() })) }),
)

/** Fails if axe-core finds any violation, or if the page is wider than the screen. */
export async function assertAccessible(page: Page, state: string): Promise<void> {
  await page.evaluate(axe.source)
  const found = await page.evaluate('axe.run().then(({ violations }) => violations)')
  const wrong = v.parse(Violations, found).map(({ id, nodes }) => [id, nodes[0]?.html])
  assert.deepEqual(wrong, [], state)
  const beyond = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
  assert.equal(beyond, 0, `${state} is too wide`)
}

/** Desktop and phone, light and dark. */
export const SCREENS = ['light', 'dark'].flatMap((colorScheme) =>
  [1280, 390].map((width) => ({
    name: `${colorScheme}, ${width} pixels wide`,
    // safe: one of the two values above
    options: { colorScheme: colorScheme as 'light' | 'dark', viewport: { width, height: 800 } },
  })),
)
