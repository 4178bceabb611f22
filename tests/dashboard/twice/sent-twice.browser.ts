import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { openBrowser, type TestBrowser } from '../../pages/browser.ts'
import { makeApp } from '../../support/helpers.ts'
import { FORM_CASES } from './form-cases.ts'
import type { FormCase, Scene } from './scenes.ts'
import { openStage, type Stage } from './stage.ts'

/* Every form of the service, by a user who clicks twice while the server is slow. */

let browser: TestBrowser
before(async () => {
  browser = await openBrowser()
})
after(() => browser.close())

/** Not sent by a form: the reference's script sends it, and shows each answer. */
const NO_FORMS = ['/app/try']

/** Opens the page, and fills the form in. */
async function enter(page: Page, { route }: FormCase, stage: Stage, scene: Scene) {
  if (scene.token !== undefined) {
    const cookie = { name: 'meridian_dashboard', value: scene.token, url: `${stage.origin}/app` }
    await page.context().addCookies([cookie])
  }
  await page.goto(`${stage.origin}${scene.page}`)
  await scene.before?.(page)
  const form = await findForm(page, route, scene)
  const popover = form.locator('xpath=ancestor::*[@popover]')
  if ((await popover.count()) > 0) {
    await page.click(`[popovertarget="${await popover.getAttribute('id')}"]`)
  }
  const closed = form.locator('xpath=ancestor::details[not(@open)]')
  while ((await closed.count()) > 0) await closed.first().locator('summary').first().click()
  for (const [name, value] of Object.entries(scene.fields ?? {})) {
    const field = form.locator(`[name="${name}"]`)
    await (value === true ? field.check() : field.fill(value))
  }
  return form.locator('button[type="submit"]')
}

/** The form of the route, with the fields that are to be filled in. */
async function findForm(page: Page, route: string, { fields = {} }: Scene): Promise<Locator> {
  const path = new RegExp(`^${route.replaceAll(/:\w+/g, '[^/?]+')}(\\?.*)?$`)
  for (const form of await page.locator('form[method="post"]').all()) {
    const names = await Promise.all(
      Object.keys(fields).map((name) => form.locator(`[name="${name}"]`).count()),
    )
    if (path.test((await form.getAttribute('action')) ?? '') && names.every(Boolean)) return form
  }
  assert.fail(`no form for ${route} at ${page.url()}: ${await page.textContent('main')}`)
}

/**
 * Clicks where the button is, whatever the browser does meanwhile. The second click waits until the service has the
 * first form: a browser that is busy would send only the second one.
 */
async function clickTwice(page: Page, button: Locator, stage: Stage): Promise<void> {
  await button.scrollIntoViewIfNeeded()
  const box = (await button.boundingBox()) ?? assert.fail('the button is hidden')
  const at = [box.x + box.width / 2, box.y + box.height / 2] as const
  await page.mouse.click(...at)
  await stage.answers(1)
  await page.mouse.click(...at)
}

async function sendTwice(test: FormCase, hasScript: boolean): Promise<void> {
  await using stage = await openStage(test.sendsMail ?? true)
  const scene = await test.open(stage)
  const { page } = await browser.visitor({ javaScriptEnabled: hasScript })
  const button = await enter(page, test, stage, scene)
  await stage.holdAnswers()
  await clickTwice(page, button, stage)
  const isScripted = hasScript && scene.isScripted === true
  const forms = isScripted ? 1 : 2
  const answers = await stage.answers(forms)
  // Chromium may never end a profile that is closed while a page of it is still opening.
  const loaded = isScripted ? undefined : page.waitForEvent('load')
  stage.release()
  await loaded
  const [first, ...others] = answers
  assert.deepEqual(others, Array(forms - 1).fill(first))
  const mails = await stage.mails()
  assert.equal(new Set(mails).size, mails.length, mails.join())
  await page.context().close()
}

describe('a form that is sent twice', { timeout: 600_000 }, () => {
  it('is each form that the service has', async () => {
    await using app = await makeApp()
    const routes = app.app.routes.filter(
      ({ method, path }) => method === 'POST' && path.startsWith('/app'),
    )
    const cases = new Set(FORM_CASES.map(({ route }) => route))
    assert.deepEqual(
      routes.map(({ path }) => path).filter((path) => !cases.has(path)),
      NO_FORMS,
    )
  })

  for (const hasScript of [true, false]) {
    describe(hasScript ? 'with script' : 'without script', { concurrency: 3 }, () => {
      for (const test of FORM_CASES) {
        const { route, name } = test
        it(`has one effect and one answer: ${route}${name === undefined ? '' : `, ${name}`}`, () =>
          sendTwice(test, hasScript))
      }
    })
  }
})
