import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { updatePlan } from '../../../lib/accounts/users.ts'
import { assertAccessible, SCREENS } from '../../pages/accessible.ts'
import { shared } from '../../support/scene/freshly.ts'
import { browseSignedIn } from '../signed-in.ts'

const SHOP = 'https://shop.example'

const { open, site } = browseSignedIn(shared, async ({ app, token }) => {
  await updatePlan(app.services.db, (await app.user('ada').row()).id, 'pro').run()
  const headers = { authorization: `Bearer ${token}` }
  await app.send('POST', '/v1/account/me/sites', { headers, body: { name: SHOP } })
  const sent = { origin: SHOP, 'user-agent': 'Mozilla/5.0' }
  for (const deviceType of ['mobile', 'desktop']) {
    const body = { path: '/cart', deviceType, metrics: { lcp: 900, cls: 0 } }
    await app.send('POST', '/v1/telemetry/rum', { headers: sent, body })
  }
})

/** Makes a link in the form of the owner. Returns its address. */
async function makeLink(): Promise<string> {
  const { page, errors } = await open('/app/vitals')
  await page.click('summary:has(#share)')
  await page.selectOption('#days', '30')
  await page.click('button:text("Make a link")')
  const link = await page.locator('#shared-link').textContent()
  await assertAccessible(page, 'a new link')
  await page.reload()
  assert.equal(await page.locator('#shared-link').textContent(), link)
  assert.deepEqual(errors, [])
  return link ?? ''
}

async function countLinks(page: Page): Promise<number> {
  await page.goto(`${site.origin}/app/vitals`)
  return page.locator('details.confirm:has-text("Revoke")').count()
}

describe('shared vitals in a browser', { timeout: 300_000 }, () => {
  for (const { name, options } of SCREENS) {
    it(`are accessible, and filter at once: ${name}`, async () => {
      const link = await makeLink()
      const { page, errors } = await open('/', options)
      await page.context().clearCookies()
      const referers: (string | undefined)[] = []
      page.on('request', (request) => referers.push(request.headers()['referer']))
      await page.goto(link)
      await page.waitForSelector('.plot canvas')
      await assertAccessible(page, 'shared')
      await page.selectOption('#period', '28d')
      await page.waitForURL(`${link}?**`)
      await page.waitForSelector('.plot canvas')
      assert.ok(referers.length > 3)
      const leaks = referers.filter((referer) => referer?.includes('/shared/') === true)
      assert.deepEqual(leaks, [])
      assert.deepEqual(errors, [])
    })
  }

  it('work without a script, and so does revoking', async () => {
    const link = await makeLink()
    const { page } = await open('/app/vitals', { javaScriptEnabled: false })
    const before = await countLinks(page)
    await page.goto(link)
    await page.selectOption('#period', '28d')
    await page.click('button:text("Show")')
    assert.match(page.url(), /\/shared\/[\w-]{43}\?period=28d/)
    await page.click('a:text("/cart")')
    await page.waitForSelector('.chips')
    assert.equal(await countLinks(page), before)
    await page.click('summary:has(#share)')
    await page.locator('summary:text("Revoke…")').last().click()
    await page.locator('button:text("Revoke permanently")').last().click()
    await page.waitForSelector('.notice:has-text("Link revoked")')
    assert.equal(await countLinks(page), before - 1)
    assert.equal((await page.goto(link))?.status(), 404)
  })
})
