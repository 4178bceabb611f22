import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { browseSignedIn } from '../dashboard/signed-in.ts'
import { write } from '../support/database/sql.ts'

const PHONE = { viewport: { width: 390, height: 844 } }
/** Tables that a reader would have to scroll sideways. */
const CUT = `[...document.querySelectorAll('main .wide:has(> table)')]
  .filter((table) => table.scrollWidth > table.clientWidth).length`

describe('tables at 390 px', { timeout: 300_000 }, () => {
  const { site, token, open } = browseSignedIn()

  it('show whole rows, with the head of each column', async () => {
    const { app } = site()
    const headers = { authorization: `Bearer ${token()}` }
    const body = { name: 'https://a-shop-with-a-long-name.example' }
    await app.send('POST', '/v1/account/me/sites', { headers, body })
    await app.send('GET', '/v1/ip/81.2.69.160', { headers })
    await app.services.ledger.flush()
    await write(app, `UPDATE users SET role = 'operator'`)
    const operate = ['/app/operate/people', '/app/operate/sites', '/app/operate/usage']
    for (const path of ['/app/account', '/app/usage', ...operate]) {
      const { page } = await open(path, PHONE)
      assert.ok((await page.locator('main .wide > table').count()) > 0, `${path} has a table`)
      assert.equal(await page.evaluate(CUT), 0, path)
    }
  })
})
