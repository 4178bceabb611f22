import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FORM_ID } from '../../../lib/contract/pages.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../lib/parts/durations.ts'
import { readColumn, readEverything, readValue, write } from '../../support/database/sql.ts'
import { type Page, type PageOptions, visitPage, withCookiesOf } from '../../support/scene/pages.ts'
import { freshScene } from '../../support/scene/scene.ts'
import { PASSWORD } from '../../support/sign-in.ts'

const app = freshScene()
const ada = app.user('ada')
const eve = app.user('eve')

const newId = () => ({ [FORM_ID]: crypto.randomUUID() })
const KEYS = 'SELECT name FROM api_keys ORDER BY name'

/** What a browser does with the page. */
function answerOf({ status, location, headers, html }: Page) {
  return { status, location, cookies: headers.getSetCookie(), html }
}

function sessionCookies({ headers }: Page): string[] {
  const set = headers.getSetCookie().flatMap((text) => text.split(';', 1))
  return set.filter((cookie) => cookie.startsWith('meridian_dashboard='))
}

/** Sends the same form with the same cookies twice, one after the other. */
async function sendTwice(path: string, form: PageOptions['form'], cookie?: string) {
  const options = { form: { ...form, ...newId() }, ...(cookie !== undefined && { cookie }) }
  const first = await visitPage(app, path, options)
  const second = await visitPage(app, path, options)
  assert.deepEqual(answerOf(second), answerOf(first))
  return first
}

describe('a form that is sent twice', () => {
  it('creates one key, which the second answer shows', async () => {
    const made = await sendTwice('/app/keys', { name: 'Shop' }, await ada.enter())
    assert.deepEqual(await readColumn(app, KEYS), ['Shop'])
    const cookie = withCookiesOf(made, await ada.enter())
    const { html } = await visitPage(app, made.location ?? '', { cookie })
    assert.match(html, /sk_live_[0-9a-f]{64}/)
  })

  it('shows a key no more once it is revoked', async () => {
    const form = { name: 'Shop', ...newId() }
    const first = await ada.submit('/app/keys', form)
    const id = await readValue(app, 'SELECT id FROM api_keys')
    await ada.submit(`/app/keys/${id}/revoke`)
    assert.notEqual((await ada.submit('/app/keys', form)).location, first.location)
  })

  it('has one effect if both copies arrive at the same moment', async () => {
    const form = { name: 'Shop', ...newId() }
    const cookie = await ada.enter()
    const pages = await Promise.all(
      Array.from({ length: 4 }, () => visitPage(app, '/app/keys', { form, cookie })),
    )
    const [first, ...others] = pages.map(answerOf)
    for (const other of others) assert.deepEqual(other, first)
    assert.deepEqual(await readColumn(app, KEYS), ['Shop'])
  })

  it('changes the password, although that ends the session that sent it', async () => {
    const form = { current: PASSWORD, password: `${PASSWORD} 2` }
    const first = await sendTwice('/app/account/password', form, await ada.enter())
    assert.equal(first.location, '/app/account?done=password')
    // Sent as the browser does once it has the cookie of the first answer.
    const again = { ...form, ...newId() }
    const cookie = withCookiesOf(first, await ada.enter())
    assert.equal(
      (await visitPage(app, '/app/account/password', { form: again, cookie })).status,
      400,
    )
  })

  it('gets the same answer with the cookies that the first one set', async () => {
    const form = { current: PASSWORD, password: `${PASSWORD} 2`, ...newId() }
    const path = '/app/account/password'
    const first = await visitPage(app, path, { form, cookie: await ada.enter() })
    const cookie = withCookiesOf(first, await ada.enter())
    assert.deepEqual(answerOf(await visitPage(app, path, { form, cookie })), answerOf(first))
  })

  it('signs out everywhere, and says so again', async () => {
    const page = await sendTwice('/app/account/sign-out-everywhere', {}, await ada.enter())
    assert.equal(page.location, '/app/sign-in?done=everywhere')
    assert.equal(await readValue(app, 'SELECT count(*) FROM sessions'), 0)
  })

  it('begins one session, whose cookie both answers set', async () => {
    await ada.row()
    const before = Number(await readValue(app, 'SELECT count(*) FROM sessions'))
    await sendTwice('/app/sign-in', { email: ada.email, password: PASSWORD })
    assert.equal(await readValue(app, 'SELECT count(*) FROM sessions'), before + 1)
  })

  it('shows what is wrong in both answers, but counts one guess', async () => {
    const form = { email: ada.email, password: 'wrong', ...newId() }
    const [one, other] = await Promise.all([
      visitPage(app, '/app/sign-in', { form }),
      visitPage(app, '/app/sign-in', { form }),
    ])
    assert.equal(one.status, 401)
    assert.deepEqual(answerOf(other), answerOf(one))
  })

  it('is another form if anything in it differs, or another user sends it', async () => {
    const id = newId()
    const send = (name: string, cookie: string) =>
      visitPage(app, '/app/keys', { form: { name, ...id }, cookie })
    await send('One', await ada.enter())
    await send('Two', await ada.enter())
    await send('One', await eve.enter())
    assert.deepEqual(await readColumn(app, KEYS), ['One', 'One', 'Two'])
  })

  it('has an effect again once ten minutes are over, and a refusal after one', async () => {
    const cookie = await ada.enter()
    const good = { form: { name: 'Shop', ...newId() }, cookie }
    const bad = { form: { name: ' ', ...newId() }, cookie }
    for (const form of [good, bad]) await visitPage(app, '/app/keys', form)
    const first = await visitPage(app, '/app/keys', bad)
    app.pass(MINUTE_MS)
    assert.notEqual((await visitPage(app, '/app/keys', bad)).html, first.html)
    app.pass(9 * MINUTE_MS)
    await visitPage(app, '/app/keys', good)
    assert.deepEqual(await readColumn(app, KEYS), ['Shop', 'Shop'])
  })

  it('is tried again after a fault', async () => {
    const options = { form: { name: 'Shop', ...newId() }, cookie: await ada.enter() }
    app.setReadOnly(true)
    const failed = await visitPage(app, '/app/keys', options)
    assert.ok(failed.status >= 500)
    app.setReadOnly(false)
    assert.equal((await visitPage(app, '/app/keys', options)).status, 303)
  })

  it('is not written down for a stranger whose forms were refused', async () => {
    const send = () => {
      const form = { name: '', email: 'x', password: '', ...newId() }
      return visitPage(app, '/app/sign-up', { form, from: '198.51.100.20' })
    }
    for (let sent = 0; sent < 60; sent++) assert.equal((await send()).status, 400)
    assert.equal(await readValue(app, 'SELECT count(*) FROM kept_answers'), 0)
    app.setReadOnly(true)
    assert.equal((await send()).status, 400)
    app.setReadOnly(false)
  })

  it('signs in again once the session of its answer may have ended', async () => {
    await ada.row()
    const options = { form: { email: ada.email, password: PASSWORD, ...newId() } }
    const first = await visitPage(app, '/app/sign-in', options)
    const cookie = withCookiesOf(first, '')
    await visitPage(app, '/app/sign-out', { form: newId(), cookie })
    app.pass(15 * SECOND_MS)
    const again = withCookiesOf(await visitPage(app, '/app/sign-in', options), '')
    assert.equal((await visitPage(app, '/app', { cookie: again })).status, 200)
  })

  it('answers another session of the user without the cookie of the first', async () => {
    await ada.row()
    const signIn = { form: { email: ada.email, password: PASSWORD } }
    const pages = [
      await visitPage(app, '/app/sign-in', signIn),
      await visitPage(app, '/app/sign-in', signIn),
    ]
    const sessions = pages.flatMap(sessionCookies)
    const [used, expires] = [app.services.now() - DAY_MS, app.services.now() + DAY_MS]
    await write(app, `UPDATE sessions SET updated_at = ${used}, expires_at = ${expires}`)
    const form = { name: 'Shop', ...newId() }
    for (const cookie of sessions) {
      const answer = await visitPage(app, '/app/keys', { form, cookie })
      assert.deepEqual(sessionCookies(answer), [cookie])
    }
    assert.deepEqual(await readColumn(app, KEYS), ['Shop'])
  })

  it('charges a batch once', async () => {
    const form = { addresses: '81.2.69.160', ...newId() }
    const cookie = await ada.enter()
    const [first, second] = [
      await visitPage(app, '/app/batch', { form, cookie }),
      await visitPage(app, '/app/batch', { form, cookie }),
    ]
    assert.equal(second.html, first.html)
    await app.services.ledger.flush()
    assert.equal(await readValue(app, 'SELECT sum(requests) FROM usage_by_period'), 1)
  })

  it('leaves no password and no key in the database', async () => {
    await sendTwice('/app/keys', { name: 'Shop' }, await ada.enter())
    const form = { current: PASSWORD, password: `${PASSWORD} 2` }
    await sendTwice('/app/account/password', form, await ada.enter())
    const stored = await readEverything(app)
    assert.ok(!stored.includes(PASSWORD))
    assert.doesNotMatch(stored, /sk_live_[0-9a-f]{20}/)
  })

  it('signs out whoever is signed in now, even with a page of an earlier session', async () => {
    const form = newId()
    await visitPage(app, '/app/sign-out', { form, cookie: await ada.enter() })
    const page = await visitPage(app, '/app/sign-out', { form, cookie: await eve.enter() })
    assert.equal(page.status, 303)
    assert.equal(await readValue(app, 'SELECT count(*) FROM sessions'), 0)
  })
})
