import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertAccessible, SCREENS } from '../pages/accessible.ts'
import { write } from '../support/database/sql.ts'
import { browseSignedIn } from './signed-in.ts'

const TIMEOUT_MS = 300_000

const { open, site } = browseSignedIn()

describe('the look-up page', { timeout: TIMEOUT_MS }, () => {
  for (const { name, options } of SCREENS) {
    it(`is accessible, and shows the place on the map: ${name}`, async () => {
      const { page, errors } = await open('/app/look-up', options)
      await assertAccessible(page, 'nothing looked up')
      await page.fill('#ip', '81.2.69.160')
      await page.click('#look-up button')
      await page.waitForSelector('.place-map')
      await assertAccessible(page, 'a result')
      await page.goto(`${site.origin}/app/look-up?ip=10.0.0.1`)
      await assertAccessible(page, 'nothing known')
      assert.deepEqual(errors, [])
      await page.goto(`${site.origin}/app/look-up?ip=nope`)
      await assertAccessible(page, 'an invalid address')
    })
  }

  it('keeps its button and both maps in their places at all widths', async () => {
    const { page } = await open('/app/look-up?ip=81.2.69.160')
    // Of a place with an area: beside a map that is not wide, the caption takes two lines.
    await page.evaluate(
      `document.querySelector('figcaption').prepend('In the marked area, which is wide')`,
    )
    for (const width of [320, 360, 768, 960, 1024, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      assert.equal(await page.evaluate(BEYOND), 0, `${width} pixels`)
      if (width < 768) continue
      const near = await page.locator('.place-map svg:nth-of-type(1)').boundingBox()
      const world = await page.locator('.place-map svg:nth-of-type(2)').boundingBox()
      assert.ok(near && world)
      assert.ok(world.y > near.y && world.y + world.height < near.y + near.height, `${width} down`)
      assert.ok(world.x > near.x && world.x + world.width < near.x + near.width, `${width} across`)
    }
  })

  it('shows where in the world the place is', async () => {
    const { page } = await open('/app/look-up?ip=81.2.69.160')
    const at = await page.locator('.place-map svg:nth-of-type(2) .point').boundingBox()
    const world = await page.locator('.place-map svg:nth-of-type(2)').boundingBox()
    assert.ok(at && world)
    const [x, y] = [at.x + at.width / 2 - world.x, at.y + at.height / 2 - world.y]
    assert.ok(Math.abs(x / world.width - (180 - 0.0931) / 360) < 0.005)
    assert.ok(Math.abs(y / world.height - (90 - 51.5142) / 180) < 0.005)
  })

  it('shows a high map above the facts on phones, of the surroundings alone', async () => {
    const { page } = await open('/app/look-up?ip=81.2.69.160', {
      viewport: { width: 390, height: 844 },
    })
    const map = await page.locator('.place-map svg').first().boundingBox()
    const facts = await page.locator('.facts').boundingBox()
    assert.ok(map && facts)
    assert.ok(map.y + map.height < 750, `ends at ${map.y + map.height}`)
    assert.ok(map.y + map.height < facts.y)
    assert.ok(Math.abs(map.width / map.height - 4 / 3) < 0.02, `${map.width} by ${map.height}`)
    assert.equal(await page.locator('.place-map svg:visible').count(), 1)
  })

  it('shows the coordinates in one line', async () => {
    const { page } = await open('/app/look-up?ip=81.2.69.160')
    for (const width of [390, 768, 960, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      assert.equal(await page.evaluate(COORDINATE_LINES), 1, `${width} pixels`)
    }
  })

  it('loads its maps, and colours the country of the address', async () => {
    const { page } = await open('/app/look-up?ip=81.2.69.160')
    const images = await page.locator('.place-map image').evaluateAll((all) => {
      return all.map((image) => image.getAttribute('href') ?? '')
    })
    assert.equal(images.length, 3)
    // Norfolk and Rouen on the tile that reaches from 0.1° W and 60.1° N over 30.2 degrees.
    const href = images.find((path) => path.includes('map-6-1.')) ?? ''
    const norfolk = await page.evaluate(colorAt(href, 1.1 / 30.2, 7.4 / 30.2))
    const rouen = await page.evaluate(colorAt(href, 1.2 / 30.2, 10.7 / 30.2))
    assert.deepEqual([norfolk, rouen], ['190 208 228', '217 219 225'])
  })
})

/** A script for the colour of an image at a point, in parts of its width and height. */
function colorAt(href: string, x: number, y: number): string {
  return `(async () => {
    const image = new Image(1000, 1000)
    image.src = ${JSON.stringify(href)}
    await image.decode()
    const canvas = new OffscreenCanvas(1000, 1000).getContext('2d')
    canvas.drawImage(image, 0, 0, 1000, 1000)
    return [...canvas.getImageData(${x * 1000}, ${y * 1000}, 1, 1).data].slice(0, 3).join(' ')
  })()`
}

describe('the audit log page', { timeout: TIMEOUT_MS }, () => {
  for (const { name, options } of SCREENS) {
    it(`is accessible, and finds matching entries: ${name}`, async () => {
      const headers = { authorization: `Bearer ${site.token}` }
      const body = { name: `${'Long'.repeat(20)} name` }
      await site.app.send('POST', '/v1/account/me/keys', { headers, body })
      const { page, errors } = await open('/app/audit', options)
      await assertAccessible(page, 'all entries')
      await page.selectOption('#action', 'create_key')
      await page.fill('#search', 'longlong')
      await page.click('.filters button')
      await page.waitForURL(/search=longlong/)
      assert.equal(await page.locator('.entries > li').count(), 1)
      await page.focus('.entries summary')
      await page.keyboard.press('Enter')
      assert.ok(await page.locator('dd:text("create_key")').isVisible())
      await assertAccessible(page, 'some entries')
      await page.goto(`${site.origin}/app/audit?search=nothing`)
      await assertAccessible(page, 'no entry')
      assert.deepEqual(errors, [])
    })
  }
})

/** By how much the page, or the form in it, is too wide. */
const BEYOND = `(() => {
  const form = document.querySelector('#look-up')
  const { right } = form.querySelector('button').getBoundingClientRect()
  return Math.max(0, right - form.getBoundingClientRect().right)
    + document.documentElement.scrollWidth - innerWidth
})()`

const COORDINATE_LINES = `(() => {
  const name = [...document.querySelectorAll('dt')].find((dt) => dt.textContent === 'Coordinates')
  const text = document.createRange()
  text.selectNodeContents(name.nextElementSibling)
  return text.getClientRects().length
})()`

const PHONE = { viewport: { width: 390, height: 844 } }
/** Tables that a reader would have to scroll sideways. */
const CUT = `[...document.querySelectorAll('main .wide:has(> table)')]
  .filter((table) => table.scrollWidth > table.clientWidth).length`
const BARE = `[...document.querySelectorAll('.stacked td')]
  .filter((cell) => cell.offsetHeight > 0 && cell.textContent.trim() === '').length`

describe('tables at 390 px', { timeout: 300_000 }, () => {
  const { site, open } = browseSignedIn()

  it('show whole rows, with the head of each column', async () => {
    const { app } = site
    const headers = { authorization: `Bearer ${site.token}` }
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
      assert.equal(await page.evaluate(BARE), 0, `${path}: a head without a value`)
    }
  })
})
