import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertAccessible } from '../pages/accessible.ts'
import { browseSignedIn } from './signed-in.ts'

const TIMEOUT_MS = 240_000

const { open } = browseSignedIn()

/** The distance between the middle of the card and that of what is in it, in pixels. */
const OFF_CENTRE = `[...document.querySelectorAll('.empty > *')].map((part) => {
  const middle = (element) => {
    const { left, right } = element.getBoundingClientRect()
    return (left + right) / 2
  }
  return Math.abs(middle(part) - middle(part.parentElement))
})`

describe('the keys page without a key', { timeout: TIMEOUT_MS }, () => {
  it('has its button in the middle, below the text', async () => {
    const { page } = await open('/app/keys')
    await page.waitForSelector('.empty > .button')
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 })
      assert.deepEqual(await page.evaluate(`${OFF_CENTRE}.filter((distance) => distance > 1)`), [])
    }
  })
})

/** Of a row with a menu: the space above its name less that below, and that between its dots and its end. */
const ROW = `(() => {
  const row = document.querySelector('tr:has(.menu)')
  const name = row.querySelector('th').getBoundingClientRect()
  const text = document.createRange()
  text.selectNodeContents(row.querySelector('th'))
  const { top, bottom } = text.getBoundingClientRect()
  const dots = row.querySelector('.menu span').getBoundingClientRect()
  const card = row.closest('.card')
  const inner = card.getBoundingClientRect().right - parseFloat(getComputedStyle(card).paddingRight) - 1
  return [top - name.top - (name.bottom - bottom), inner - dots.right]
})()`

describe('the rows of keys', { timeout: TIMEOUT_MS }, () => {
  it('have the same space above and below, and end with the dots of their menus', async () => {
    const { page } = await open('/app/keys/new', { viewport: { width: 1280, height: 800 } })
    await page.fill('#name', 'Shop')
    await page.click('main form button[type=submit]')
    await page.waitForSelector('tr .menu')
    const [off, aside] = await page.evaluate<[number, number]>(ROW)
    assert.ok(Math.abs(off) < 4, `${off} pixels off the middle`)
    assert.ok(Math.abs(aside) < 4, `${aside} pixels beside the end`)
  })
})

/** The colours of the edge and outline of the focused field, and of the text about it. */
const COLORS = `(() => {
  const { borderTopColor, outlineColor } = getComputedStyle(document.activeElement)
  return [borderTopColor, outlineColor, getComputedStyle(document.querySelector('.problem')).color]
})()`

describe('a form that was refused', { timeout: TIMEOUT_MS }, () => {
  it('focuses the wrong field, in the colour of errors, with the text next to it', async () => {
    const { page } = await open('/app/sites')
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.fill('#name', 'ftp://shop.example')
      await page.click('form:has(#name) button')
      await page.waitForSelector('#name:focus + .problem + .hint')
      const colors = new Set(await page.evaluate<string[]>(COLORS))
      assert.equal(colors.size, 1, [...colors].join(' '))
      await assertAccessible(page, `refused, ${colorScheme}`)
    }
  })
})

/** The tops of the buttons at the foot of the form. */
const FOOT = `[...document.querySelectorAll('main .stack > :last-child > *')]
  .map((part) => part.getBoundingClientRect().top)`

describe('a form on a page of its own', { timeout: TIMEOUT_MS }, () => {
  it('has the way back beside its button', async () => {
    for (const width of [1280, 390]) {
      const { page } = await open('/app/keys/new', { viewport: { width, height: 800 } })
      const tops = await page.evaluate<number[]>(FOOT)
      assert.equal(tops.length, 2)
      assert.equal(tops[0], tops[1], `${width} px`)
    }
  })
})
