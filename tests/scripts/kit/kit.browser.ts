import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serveKit } from '../../../scripts/kit/serve-kit.ts'
import { assertAccessible, SCREENS } from '../../pages/accessible.ts'
import { visitors } from '../../pages/browser.ts'
import { shared } from '../../support/scene/freshly.ts'

const openVisitor = visitors()
const kit = shared(() => serveKit(0))

describe('the page of all parts', { timeout: 120_000 }, () => {
  for (const { name, options } of SCREENS) {
    it(`is accessible, and loads nothing that the policy refuses: ${name}`, async () => {
      const { page, errors } = await openVisitor(options)
      await page.goto(kit.url)
      await page.waitForSelector('.uplot')
      await assertAccessible(page, 'closed')
      for (const summary of await page.locator('main summary').all()) await summary.click()
      await assertAccessible(page, 'opened')
      assert.deepEqual(errors, [])
    })
  }
})
