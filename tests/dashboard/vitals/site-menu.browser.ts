import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { newSite } from '../../../lib/accounts/sites.ts'
import { sites } from '../../../lib/db/tables.ts'
import { assertAccessible, SCREENS } from '../../pages/accessible.ts'
import { shared } from '../../support/scene/freshly.ts'
import { browseSignedIn } from '../signed-in.ts'

const PHONE = { viewport: { width: 390, height: 800 } }
const BUTTON = 'button.site'

const { open, site } = browseSignedIn(shared)

describe('the menu of sites in a browser', { timeout: 300_000 }, () => {
  before(async () => {
    const { db } = site.app.services
    const { id: userId } = await site.app.user('ada').row()
    for (let n = 0; n < 100; n++) {
      const name = `https://${n === 50 ? 'a-very-long-name-of-a-host'.repeat(2) : `shop-${n}`}.example`
      await db
        .insert(sites)
        .values(newSite({ userId, name, now: n }))
        .run()
    }
  })

  for (const { name, options } of SCREENS) {
    it(`is accessible, and scrolls: ${name}`, async () => {
      const { page, errors } = await open('/app/vitals', options)
      await page.click(BUTTON)
      await assertAccessible(page, 'the menu of sites')
      const menu = await page.locator('#site-menu').boundingBox()
      const button = await page.locator(BUTTON).boundingBox()
      assert.ok(menu !== null && button !== null)
      assert.ok(menu.y >= button.y + button.height, 'below its button')
      assert.ok(menu.x >= 0 && menu.x + menu.width <= options.viewport.width, 'wholly on screen')
      assert.ok(menu.width >= button.width, 'not narrower than its button')
      assert.ok(menu.y + menu.height <= options.viewport.height, 'within the screen')
      assert.equal(await page.locator('#site-menu a').count(), 100)
      await page.click('#site-menu a:text("shop-99.example")')
      await page.waitForSelector('h1:text("Web vitals of shop-99.example")')
      assert.deepEqual(errors, [])
    })
  }

  it('works without a script', async () => {
    const { page } = await open('/app/vitals?period=28d', { ...PHONE, javaScriptEnabled: false })
    await page.click(BUTTON)
    await page.click('#site-menu a:text("shop-3.example")')
    assert.match(page.url(), /shop-3\.example&period=28d$/)
  })

  it('leaves the navigation where it is on other pages', async () => {
    const { page } = await open('/app')
    const billing = page.locator('.rail a:has-text("Billing")')
    const before = await billing.boundingBox()
    await page.goto(`${site.origin}/app/vitals`)
    assert.deepEqual(await billing.boundingBox(), before)
  })

  it('works with the keyboard: Escape closes it, and the focus returns', async () => {
    const { page } = await open('/app/vitals')
    await page.focus(BUTTON)
    await page.keyboard.press('Enter')
    await page.waitForSelector('#site-menu', { state: 'visible' })
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'shop-0.example')
    await page.keyboard.press('Escape')
    await page.waitForSelector('#site-menu', { state: 'hidden' })
    assert.equal(await page.evaluate('document.activeElement.matches("button.site")'), true)
  })

  it('keeps a filter that was just changed', async () => {
    const { page, errors } = await open('/app/vitals')
    await page.evaluate(`document.querySelector('#report').dataset.old = ''`)
    await page.selectOption('#period', '90d')
    await page.waitForSelector('#report:not([data-old])')
    await page.click(BUTTON)
    await page.click('#site-menu a:text("shop-7.example")')
    await page.waitForSelector('h1:text("Web vitals of shop-7.example")')
    assert.equal(await page.inputValue('#period'), '90d')
    assert.deepEqual(errors, [])
  })
})
