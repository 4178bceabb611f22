import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { assertAccessible, SCREENS } from '../pages/accessible.ts'
import { openBrowser, type TestBrowser } from '../pages/browser.ts'
import { prepareLocate } from './run-locate.ts'

const { locate, path } = prepareLocate()

let browser: TestBrowser
before(async () => {
  browser = await openBrowser()
})
after(() => browser.close())

describe('npm run locate -- --map', { timeout: 300_000 }, () => {
  for (const { name, options } of SCREENS) {
    it(`writes a page that needs no other file: ${name}`, async () => {
      const file = path('out.html')
      const list = `${'1.1.1.1\n'.repeat(9)}2a00:db8::1\n2.2.2.2\nnone\n`
      const { code, stdout, stderr } = await locate(list, ['--map', file])
      assert.deepEqual({ code, stdout }, { code: 0, stdout: '' }, stderr)
      const { page, errors } = await browser.visitor(options)
      const requests: string[] = []
      page.on('request', (request) => requests.push(request.url()))
      const url = pathToFileURL(file).href
      await page.goto(url)
      assert.deepEqual(
        requests.filter((request) => !request.startsWith('data:')),
        [url],
      )
      const circles = page.locator('.list-map circle')
      assert.deepEqual(
        await circles.evaluateAll((all) => all.map((circle) => circle.textContent)),
        ['around Köln, DE: 9 rows', 'around Six, DE: 1 row'],
      )
      assert.match((await page.textContent('.list-map figcaption')) ?? '', /1 without coordinates/)
      const world = await page.locator('.list-map svg').boundingBox()
      const spot = await circles.first().boundingBox()
      assert.ok(world && spot)
      const [x, y] = [spot.x + spot.width / 2 - world.x, spot.y + spot.height / 2 - world.y]
      assert.ok(Math.abs(x / world.width - (180 + 6.96) / 360) < 0.005)
      assert.ok(Math.abs(y / world.height - (90 - 50.94) / 180) < 0.005)
      await assertAccessible(page, 'the map')
      assert.deepEqual(errors, [])
      await page.context().close()
    })
  }
})
