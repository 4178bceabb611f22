import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from '../pages/accessible.ts'
import { visitors } from '../pages/browser.ts'
import { codeAt } from '../support/authenticator.ts'
import { newDataFolder, type Running, startServer } from '../support/process.ts'
import { PASSWORD } from '../support/sign-in.ts'

const EMAIL = 'grace@example.com'

const { settings, remove } = newDataFolder()
const openVisitor = visitors()
let server: Running
before(async () => {
  server = await startServer(settings)
})
after(async () => {
  await server.stop('SIGTERM')
  remove()
})

/** Checks the page on a desktop and on a phone. */
async function checkPage(page: Page, state: string): Promise<void> {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 })
    await assertAccessible(page, `${state}, ${width} pixels wide`)
  }
}

async function givePassword(page: Page): Promise<void> {
  await page.goto(`${server.url}/app/sign-in`)
  await page.fill('#email', EMAIL)
  await page.fill('#password', PASSWORD)
  await page.click('main button')
  await page.waitForSelector('#code')
}

describe('a second factor in the dashboard', { timeout: 120_000 }, () => {
  let secret = ''
  let recoveryCodes: string[] = []

  it('is turned on with an app, and gives recovery codes', async () => {
    const { page, errors } = await openVisitor()
    await page.goto(`${server.url}/app/sign-up`)
    await page.fill('#name', 'Grace')
    await page.fill('#email', EMAIL)
    await page.fill('#password', PASSWORD)
    await page.click('main button')
    await page.click('nav.groups >> text=Settings')
    await page.click('text=Turn it on')
    await checkPage(page, 'off')
    await page.fill('#password', PASSWORD)
    await page.click('text=Continue')
    secret = (await page.textContent('#secret'))?.trim() ?? ''
    await checkPage(page, 'offered')
    await page.fill('#code', await codeAt(secret, Date.now()))
    await page.click('main button:has-text("Turn on")')
    recoveryCodes = ((await page.textContent('#recovery-codes')) ?? '').trim().split('\n')
    assert.equal(recoveryCodes.length, 10)
    assert.ok(await page.isVisible('[data-copy="recovery-codes"]'))
    await checkPage(page, 'recovery codes')
    await page.click('text=I have saved the codes')
    await page.click('button:has-text("Your account")')
    await page.click('#who >> text=Sign out')
    await page.waitForURL(/\/app\/sign-in$/)
    assert.deepEqual(errors, [])
  })

  it('asks for a code at sign-in', async () => {
    const { page, errors } = await openVisitor()
    await givePassword(page)
    await checkPage(page, 'second step')
    // The code that turned it on is used: this is the next one, which apps with a fast clock show.
    await page.fill('#code', await codeAt(secret, Date.now() + 30_000))
    await page.click('main button >> nth=0')
    await page.waitForURL(/\/app$/)
    await page.goto(`${server.url}/app/account`)
    await checkPage(page, 'account')
    assert.deepEqual(errors, [])
  })

  it('without JavaScript takes a recovery code, and is turned off', async () => {
    const { page } = await openVisitor({ javaScriptEnabled: false })
    await givePassword(page)
    await page.click('text=Use a recovery code')
    await page.fill('#recoveryCode', recoveryCodes[0] ?? '')
    await page.click('details button')
    await page.waitForURL(/\/app$/)
    await page.goto(`${server.url}/app/account/second-factor`)
    await page.click('summary:has-text("Turn off")')
    await page.fill('#offPassword', PASSWORD)
    await page.fill('#offCode', recoveryCodes[1] ?? '')
    await page.click('details button')
    await page.waitForSelector('text=The second factor is off.')
  })
})
