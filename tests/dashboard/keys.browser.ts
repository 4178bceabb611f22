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
