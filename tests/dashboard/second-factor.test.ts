import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import decodeQR from 'qr/decode.js'
import { FORM_ID } from '../../lib/contract/pages.ts'
import { MINUTE_MS } from '../../lib/parts/durations.ts'
import { codeAt } from '../support/authenticator.ts'
import { readColumn } from '../support/database/sql.ts'
import { cookieOf, visitPage } from '../support/scene/pages.ts'
import { freshScene } from '../support/scene/scene.ts'
import { PASSWORD } from '../support/sign-in.ts'

const PATH = '/app/account/second-factor'
const EMAIL = 'ada@example.com'

const app = freshScene()
const ada = app.user('ada')
const eve = app.user('eve')

const newId = () => ({ [FORM_ID]: crypto.randomUUID() })

/** The value of a hidden field. */
function fieldIn(html: string, name: string): string {
  const [, value = ''] = new RegExp(`name="${name}" value="([^"]*)"`).exec(html) ?? []
  return value.replaceAll('&amp;', '&')
}

/** The recovery codes that the page shows. */
function codesIn(html: string): string[] {
  return /<pre id="recovery-codes"[^>]*>([^<]*)</.exec(html)?.[1]?.trim().split('\n') ?? []
}

const PIXELS = 4

/** Decodes the picture on the page. */
function readQr(html: string): string {
  const [svg = ''] = /<svg class="qr".*?<\/svg>/s.exec(html) ?? []
  const width = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1]) * PIXELS
  const data = new Uint8Array(width * width * 3).fill(255)
  for (const [, x, y] of svg.matchAll(/M(\d+) (\d+)h1v1h-1z/g)) {
    for (let row = 0; row < PIXELS; row++) {
      const from = ((Number(y) * PIXELS + row) * width + Number(x) * PIXELS) * 3
      data.fill(0, from, from + PIXELS * 3)
    }
  }
  return decodeQR({ width, height: width, data })
}

async function turnOn() {
  const offered = await ada.submit(PATH, { password: PASSWORD })
  const uri = fieldIn(offered.html, 'uri')
  const secret = new URL(uri).searchParams.get('secret') ?? ''
  const code = () => codeAt(secret, app.services.now())
  const form = { uri, code: await code(), ...newId() }
  const shown = await ada.submit(`${PATH}/confirm`, form)
  assert.equal(shown.status, 200, shown.html)
  return { form, offered, uri, secret, code, recoveryCodes: codesIn(shown.html) }
}

async function givePassword(next = '/app/keys') {
  const form = { email: EMAIL, password: PASSWORD, next }
  const page = await visitPage(app, '/app/sign-in', { form })
  assert.equal(page.status, 200)
  assert.equal(page.headers.get('set-cookie'), null)
  return { page, fields: { challenge: fieldIn(page.html, 'challenge'), next } }
}

describe('the page of the second factor', () => {
  it('asks for the password, then shows the secret as a QR code and as text', async () => {
    const wrong = await ada.submit(PATH, { password: 'wrong horse' })
    assert.equal(wrong.status, 400)
    assert.match(wrong.html, /id="password-problem" role="alert">This is not the password/)
    const { offered, secret, recoveryCodes } = await turnOn()
    assert.match(offered.html, /<svg class="qr"[^>]* role="img"/)
    assert.match(offered.html, new RegExp(`>${secret}<`))
    assert.equal(recoveryCodes.length, 10)
  })

  it('draws what a QR reader can read', async () => {
    const { html } = await ada.submit(PATH, { password: PASSWORD })
    assert.equal(readQr(html), fieldIn(html, 'uri'))
  })

  it('keeps the secret on the page after a wrong code', async () => {
    const offered = await ada.submit(PATH, { password: PASSWORD })
    const uri = fieldIn(offered.html, 'uri')
    const wrong = await ada.submit(`${PATH}/confirm`, { uri, code: '1' })
    assert.equal(wrong.status, 400)
    assert.equal(fieldIn(wrong.html, 'uri'), uri)
    assert.match(wrong.html, /id="code-problem" role="alert">This is wrong/)
    const forged = { uri: 'https://evil.example', code: '1' }
    assert.doesNotMatch((await ada.submit(`${PATH}/confirm`, forged)).html, /evil/)
  })

  it('replaces the recovery codes, and turns the second factor off', async () => {
    const { code, recoveryCodes } = await turnOn()
    assert.match((await ada.visit(PATH)).html, /Recovery codes left/)
    app.pass(30_000)
    const replace = { codesPassword: PASSWORD, codesCode: await code() }
    const shown = await ada.submit(`${PATH}/recovery-codes`, replace)
    const fresh = codesIn(shown.html)
    assert.equal(fresh.length, 10)
    const off = (offCode = '') => ada.submit(`${PATH}/remove`, { offPassword: PASSWORD, offCode })
    const refused = await off(recoveryCodes[0])
    assert.equal(refused.status, 400)
    assert.match(refused.html, /id="offCode-problem" role="alert">This is wrong or was used before/)
    assert.match(refused.html, /<details class="confirm" open="">/)
    assert.equal((await off(fresh[0])).location, '/app/account?done=factor-off')
    const form = { email: EMAIL, password: PASSWORD }
    assert.equal((await visitPage(app, '/app/sign-in', { form })).status, 303)
  })

  it('shows the same recovery codes if the page with them is reloaded, for ten minutes', async () => {
    const { form, code, recoveryCodes } = await turnOn()
    const send = (path: string, sent: Record<string, string>) => ada.submit(`${PATH}/${path}`, sent)
    assert.deepEqual(codesIn((await send('confirm', form)).html), recoveryCodes)
    app.pass(30_000)
    const replace = { codesPassword: PASSWORD, codesCode: await code(), ...newId() }
    const renewed = codesIn((await send('recovery-codes', replace)).html)
    assert.equal(renewed.length, 10)
    assert.notDeepEqual(renewed, recoveryCodes)
    assert.deepEqual(codesIn((await send('recovery-codes', replace)).html), renewed)
    const other = { ...replace, codesPassword: 'wrong horse' }
    assert.equal((await send('recovery-codes', other)).status, 400)
    app.pass(10 * MINUTE_MS)
    const late = await send('recovery-codes', replace)
    assert.deepEqual([late.status, codesIn(late.html)], [400, []])
  })

  it('does not show codes again once others have replaced them', async () => {
    const { form, code } = await turnOn()
    app.pass(30_000)
    const replace = { codesPassword: PASSWORD, codesCode: await code() }
    // In another browser.
    assert.equal((await ada.submit(`${PATH}/recovery-codes`, replace)).status, 200)
    const { status, html } = await ada.submit(`${PATH}/confirm`, form)
    assert.deepEqual([status, codesIn(html)], [400, []])
  })

  it('does not show codes again once one of them was used', async () => {
    const { form, recoveryCodes } = await turnOn()
    const { fields } = await givePassword()
    const passed = await visitPage(app, '/app/sign-in/code', {
      form: { ...fields, code: recoveryCodes[0] ?? '' },
    })
    assert.equal(passed.status, 303)
    const { status, html } = await ada.submit(`${PATH}/confirm`, form)
    assert.deepEqual([status, codesIn(html)], [400, []])
  })

  it('says that it is on, not that the code is wrong, when its codes are no longer shown', async () => {
    const { form } = await turnOn()
    app.pass(10 * MINUTE_MS)
    const { status, html } = await ada.submit(`${PATH}/confirm`, form)
    assert.equal(status, 400)
    assert.match(html, /role="alert">The second factor is on already</)
    assert.match(html, /Replace the codes/)
    assert.doesNotMatch(html, /Add Meridian to your app/)
  })

  it('does not show codes again once it is turned off', async () => {
    const { form, code } = await turnOn()
    app.pass(30_000)
    await ada.submit(`${PATH}/remove`, { offPassword: PASSWORD, offCode: await code() })
    const { status, html } = await ada.submit(`${PATH}/confirm`, form)
    assert.deepEqual([status, codesIn(html)], [400, []])
    assert.match(html, /There is nothing to confirm/)
    assert.match(html, /Turn on the second factor/)
  })

  it('makes the forms of address and deletion ask for a code', async () => {
    const { recoveryCodes } = await turnOn()
    const account = await ada.visit('/app/account')
    assert.match(account.html, /name="emailCode"/)
    assert.match(account.html, /name="deleteCode"/)
    const change = { newEmail: 'new@example.com', emailPassword: PASSWORD }
    const path = '/app/account/email'
    assert.equal((await ada.submit(path, change)).status, 400)
    const form = { ...change, emailCode: recoveryCodes[0] ?? '' }
    assert.equal((await ada.submit(path, form)).status, 303)
    const end = { deleteEmail: 'new@example.com', deletePassword: PASSWORD }
    const last = { ...end, deleteCode: recoveryCodes[1] ?? '' }
    const ended = await ada.submit('/app/account/delete', last)
    assert.equal(ended.location, '/app/sign-in?done=deleted')
  })
})

describe('the second step of the sign-in page', () => {
  it('asks for the code, and then opens the requested page', async () => {
    const { code } = await turnOn()
    const { page, fields } = await givePassword()
    assert.match(page.html, /autocomplete="one-time-code"/)
    assert.match(page.html, /inputmode="numeric"/)
    const step = (form: Record<string, string>) =>
      visitPage(app, '/app/sign-in/code', { form: { ...fields, ...form } })
    const wrong = await step({ code: '000-000' })
    assert.equal(wrong.status, 401)
    assert.match(wrong.html, /role="alert">This code is wrong/)
    assert.equal(fieldIn(wrong.html, 'challenge'), fields.challenge)
    assert.equal(fieldIn(wrong.html, 'next'), fields.next)
    app.pass(30_000)
    const passed = await step({ code: await code() })
    assert.equal(passed.location, '/app/keys')
    const cookie = cookieOf(passed)
    assert.equal((await visitPage(app, '/app/account', { cookie })).status, 200)
    const logins = "SELECT app FROM audit_log WHERE action = 'login' ORDER BY id"
    assert.deepEqual(await readColumn(app, logins), ['dashboard', 'dashboard'])
  })

  it('takes a recovery code instead', async () => {
    const { recoveryCodes } = await turnOn()
    const { fields } = await givePassword('https://evil.example')
    const form = { ...fields, code: '', recoveryCode: recoveryCodes[9] ?? '' }
    assert.equal((await visitPage(app, '/app/sign-in/code', { form })).location, '/app')
  })

  it('makes the browser known to the account that signs in, whatever address the form names', async () => {
    const { recoveryCodes } = await turnOn()
    await eve.enter()
    const { fields } = await givePassword()
    const form = { ...fields, email: 'eve@example.com', code: recoveryCodes[0] ?? '' }
    const passed = await visitPage(app, '/app/sign-in/code', { form })
    const cookies = passed.headers.getSetCookie().map((text) => text.split(';')[0] ?? '')
    const [name, device = ''] = cookies[1]?.split('=') ?? []
    assert.equal(name, 'meridian_device')
    const limitId = (email: string) =>
      app.services.devices.limitId(email, decodeURIComponent(device))
    assert.match(await limitId(EMAIL), /^device /)
    assert.equal(await limitId('eve@example.com'), 'eve@example.com')
  })
})
