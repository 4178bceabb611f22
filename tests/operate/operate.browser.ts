import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { assertAccessible, SCREENS } from '../pages/accessible.ts'
import { visitors } from '../pages/browser.ts'
import { newDataFolder, type Running, runScript, startServer } from '../support/process.ts'
import { PASSWORD } from '../support/sign-in.ts'

/* An operator of the real process, whose role the command gives while the server runs. */

const OPERATOR = 'olga@example.com'
const PERSON = 'ada@example.com'

const folder = newDataFolder()
const openVisitor = visitors()
let server: Running
before(async () => {
  server = await startServer({ ...folder.settings, PORT: '0' })
  await run('scripts/key.ts', '--email', PERSON, '--name', 'first')
  await signUp()
})
after(async () => {
  await server.stop('SIGTERM')
  folder.remove()
})

async function run(...command: string[]): Promise<void> {
  const { code, stderr } = await runScript(command, folder.settings)
  assert.equal(code, 0, stderr)
}

const setRole = (role: string) => run('scripts/user.ts', '--email', OPERATOR, '--role', role)

async function signUp(): Promise<void> {
  const { page } = await openVisitor()
  await page.goto(`${server.url}/app/sign-up`)
  await page.fill('#name', 'Olga')
  await signIn(page)
  await page.waitForURL(/\/app$/)
}

async function signIn(page: Page): Promise<void> {
  await page.fill('#email', OPERATOR)
  await page.fill('#password', PASSWORD)
  await page.click('main button')
}

/** Opens the list of people as the operator. */
async function open(options: BrowserContextOptions = {}) {
  const visitor = await openVisitor(options)
  await visitor.page.goto(`${server.url}/app/operate/people`)
  await signIn(visitor.page)
  await visitor.page.waitForURL(/\/app\/operate\/people$/)
  return visitor
}

/** Presses Tab until the element with this text has the focus. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate('document.activeElement.textContent.trim()')
    if (focused === text) return
  }
  assert.fail(`Tab never reaches ${text}`)
}

describe('the pages of operators', { timeout: 300_000 }, () => {
  it('open with the role, and close without it, beside a running server', async () => {
    const { page } = await open()
    assert.equal(await page.textContent('h1'), 'Page not found')
    await setRole('operator')
    await page.reload()
    assert.equal(await page.textContent('h1'), 'People')
    await page.goto(`${server.url}/app`)
    await page.click('.rail >> text=Operate')
    await page.waitForURL(/\/app\/operate$/)
    await setRole('user')
    await page.reload()
    assert.equal(await page.textContent('h1'), 'Page not found')
    await setRole('operator')
  })

  it('can be used by keyboard alone, without JavaScript', async () => {
    const { page, errors } = await open({ javaScriptEnabled: false })
    await page.click('h1')
    for (const [link, title] of [
      [PERSON, PERSON],
      ['Disable…', 'Disable the account?'],
    ] as const) {
      await tabTo(page, link)
      await page.keyboard.press('Enter')
      await page.waitForSelector(`h1:text-is("${title}")`)
    }
    await tabTo(page, 'Disable')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=Account disabled.')
    await tabTo(page, 'Enable…')
    await page.keyboard.press('Enter')
    await page.waitForSelector('h1:text-is("Enable the account?")')
    await tabTo(page, 'Enable')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=Account enabled.')
    assert.deepEqual(errors, [])
  })

  it('show the list as soon as a filter is changed, and keep the focus in the form', async () => {
    const { page, errors } = await open()
    await page.focus('#status')
    await page.selectOption('#status', 'operators')
    await page.waitForURL(/status=operators/)
    assert.equal(await page.textContent('#summary'), '1 user Download as CSV')
    assert.deepEqual(await page.locator('#report tbody a').allTextContents(), [OPERATOR])
    assert.equal(await page.evaluate('document.activeElement.id'), 'status')
    assert.deepEqual(errors, [])
  })

  for (const { name, options } of SCREENS) {
    it(`are accessible: ${name}`, async () => {
      const { page, errors } = await open(options)
      await assertAccessible(page, 'people')
      await page.click(`main >> text=${PERSON}`)
      await page.waitForSelector(`h1:text-is("${PERSON}")`)
      await assertAccessible(page, 'person')
      await page.click('text=Delete…')
      await page.waitForSelector('h1:text-is("Delete the account?")')
      await assertAccessible(page, 'question')
      for (const path of PAGES) {
        await page.goto(`${server.url}${path}`)
        await assertAccessible(page, path)
      }
      assert.deepEqual(errors, [])
    })
  }
})

const PAGES = [
  '/app/operate',
  '/app/operate/people?search=nobody&status=disabled',
  '/app/operate/people/new/account',
  '/app/operate/sites',
  '/app/operate/audit',
]
