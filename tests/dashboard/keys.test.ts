import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MINUTE_MS } from '../../lib/parts/durations.ts'
import { readRows, write } from '../support/database/sql.ts'
import { makeApp, NOON, type TestApp } from '../support/helpers.ts'
import {
  leaveCalls,
  type PageOptions,
  signInNewUser,
  visitPage,
  withCookiesOf,
} from '../support/scene/pages.ts'

const KEY = /sk_live_[0-9a-f]{64}/

/** Creates a key, and returns the page that then shows it. */
async function create(app: TestApp, cookie: string, form: NonNullable<PageOptions['form']>) {
  const made = await visitPage(app, '/app/keys', { cookie, form })
  assert.equal(made.status, 303)
  const path = made.location ?? ''
  const after = withCookiesOf(made, cookie)
  return { path, after, ...(await visitPage(app, path, { cookie: after })) }
}

describe('the keys page', () => {
  it('shows a new key, and the key works', async () => {
    await using app = await makeApp()
    const cookie = await signInNewUser(app)
    const form = { name: 'Shop', type: 'secret', scope: ['geo:read', 'account:read'] }
    const [key = ''] = KEY.exec((await create(app, cookie, form)).html) ?? []
    const located = await app.send('GET', '/v1/ip/81.2.69.160', { key })
    assert.equal(located.status, 200)
    const { html } = await visitPage(app, '/app/keys', { cookie })
    assert.match(html, /geo:read, account:read/)
    assert.ok(!html.includes(key))
  })

  it('shows a new key again if it is reloaded, for ten minutes and to its user alone', async () => {
    let now = NOON
    await using app = await makeApp({ now: () => now })
    const [ada, eve] = [await signInNewUser(app), await signInNewUser(app, 'eve@example.com')]
    const { path, after, html } = await create(app, ada, { name: 'Shop' })
    const [key = ''] = KEY.exec(html) ?? []
    assert.ok(html.includes(`X-API-Key: ${key}`), 'the command with which to try it')
    const reload = async (cookie: string) => (await visitPage(app, path, { cookie })).html
    assert.ok((await reload(after)).includes(key))
    assert.match(await reload(after), /1 of 2 keys/)
    // In the same browser.
    assert.ok(!(await reload(after.replace(ada, eve))).includes(key))
    assert.ok(!(await visitPage(app, '/app/keys', { cookie: after })).html.includes(key))
    assert.ok(!(await reload(`${after}0`)).includes(key))
    now += 10 * MINUTE_MS
    assert.ok(!(await reload(after)).includes(key))
  })

  it('shows a new key even if the limit is reached before the list is read', async () => {
    await using app = await makeApp()
    const cookie = await signInNewUser(app)
    const { path, after } = await create(app, cookie, { name: 'Shop' })
    // One for the profile.
    await leaveCalls(app, 1)
    assert.match((await visitPage(app, path, { cookie: after })).html, KEY)
  })

  it('creates a key for look-ups with one click, from the first page and the overview', async () => {
    await using app = await makeApp()
    const cookie = await signInNewUser(app)
    for (const page of ['/', '/app']) {
      const { html } = await visitPage(app, page, { cookie })
      const [form = ''] = /<form method="post" action="\/app\/keys">.*?<\/form>/s.exec(html) ?? []
      const fields = [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)]
      const sent = Object.fromEntries(fields.map(([, name, value]) => [name, value ?? '']))
      const [key = ''] = KEY.exec((await create(app, cookie, sent)).html) ?? []
      assert.equal((await app.send('GET', '/v1/ip/81.2.69.160', { key })).status, 200)
      assert.equal((await app.send('GET', '/v1/account/me', { key })).status, 403)
      await write(app, 'DELETE FROM api_keys')
    }
  })

  it('keeps the writing direction of a name from the words around it', async () => {
    await using app = await makeApp()
    const cookie = await signInNewUser(app)
    const { path, after } = await create(app, cookie, { name: 'later' })
    await write(app, `UPDATE api_keys SET name = 'later\u202e'`)
    const { html } = await visitPage(app, path, { cookie: after })
    assert.match(html, /<strong><bdi>later<\/bdi><\/strong> is ready/)
    assert.match(html, /<h2><bdi>later\u202e<\/bdi><\/h2>/)
    assert.match(html, /aria-label="Renew later"/)
    const named = { cookie, form: { name: 'late\u202er' } }
    const refused = await visitPage(app, '/app/keys', named)
    assert.match(refused.html, /id="name-problem" role="alert">Must not be blank, and must have no/)
  })

  it('says before it is made that a key without permissions has full access', async () => {
    await using app = await makeApp()
    const cookie = await signInNewUser(app)
    assert.match(
      (await visitPage(app, '/app/keys', { cookie })).html,
      /If you tick none, the key has full access/,
    )
  })

  it('says how many keys the plan allows, and offers no more than those', async () => {
    await using app = await makeApp()
    const cookie = await signInNewUser(app)
    assert.match((await create(app, cookie, { name: 'One' })).html, /1 of 2 keys/)
    const { html } = await create(app, cookie, { name: 'Two' })
    assert.match(html, /2 of 2 keys/)
    assert.match(html, /The Free plan allows 2 keys\..*change your plan/s)
    assert.doesNotMatch(html, /<form[^>]* action="\/app\/keys"/)
  })

  it('revokes a key at once, and records it in the audit log', async () => {
    await using app = await makeApp()
    const cookie = await signInNewUser(app)
    const { html } = await create(app, cookie, { name: 'Shop' })
    const [key = ''] = KEY.exec(html) ?? []
    const path = /\/app\/keys\/[0-9a-f]{32}\/revoke/.exec(html)?.[0] ?? ''
    const { status, location } = await visitPage(app, path, { cookie, form: {} })
    assert.equal(status, 303)
    assert.match((await visitPage(app, location ?? '', { cookie })).html, /Key revoked/)
    assert.equal((await app.send('GET', '/v1/ip/81.2.69.160', { key })).status, 401)
    const again = await visitPage(app, path, { cookie, form: {} })
    assert.equal(again.status, 404)
    assert.match(again.html, /Key not found; it may have been revoked already/)
    const rows = await readRows(
      app,
      "SELECT app, action FROM audit_log WHERE action LIKE '%key' ORDER BY id",
    )
    assert.deepEqual(rows, [
      ['dashboard', 'create_key'],
      ['dashboard', 'revoke_key'],
    ])
  })

  it('offers to renew only keys that expire', async () => {
    await using app = await makeApp()
    const cookie = await signInNewUser(app)
    const { html } = await create(app, cookie, { name: 'Shop' })
    assert.match(html, /Renew Shop/)
    await write(app, 'UPDATE api_keys SET expires_at = NULL')
    const paid = await visitPage(app, '/app/keys', { cookie })
    assert.doesNotMatch(paid.html, /Renew Shop/)
  })

  it('shows why a key cannot be created, and keeps the input', async () => {
    await using app = await makeApp()
    const cookie = await signInNewUser(app)
    const form = { name: 'Shop', type: 'publishable', origins: 'ftp://shop.example' }
    const { status, html } = await visitPage(app, '/app/keys', { cookie, form })
    assert.equal(status, 400)
    assert.match(html, /id="origins-problem" role="alert">Must look like https:/)
    assert.match(html, /aria-describedby="origins-hint origins-problem" aria-invalid="true"/)
    assert.match(html, /ftp:\/\/shop\.example<\/textarea>/)
    assert.doesNotMatch(html, /allowedOrigins/)
    const none = await visitPage(app, '/app/keys', { cookie, form: { ...form, origins: '' } })
    assert.match(none.html, /id="origins-problem" role="alert">Must have at least 1 entry/)
    const blank = await visitPage(app, '/app/keys', { cookie, form: { name: ' ' } })
    assert.match(blank.html, /id="name-problem" role="alert">Must not be blank/)
  })

  it('escapes markup in names', async () => {
    await using app = await makeApp()
    const cookie = await signInNewUser(app)
    const name = '"><script>alert(1)</script>'
    await visitPage(app, '/app/keys', { cookie, form: { name } })
    for (const path of ['/app', '/app/keys']) {
      const { html } = await visitPage(app, path, { cookie })
      assert.ok(!html.includes('<script>alert'), path)
      assert.ok(html.includes('&lt;script&gt;alert(1)'), path)
    }
  })

  it('answers 404 for a key of another user', async () => {
    await using app = await makeApp()
    const [ada, eve] = [await signInNewUser(app), await signInNewUser(app, 'eve@example.com')]
    const { html } = await create(app, ada, { name: 'Ada' })
    const path = /\/app\/keys\/[0-9a-f]{32}\/revoke/.exec(html)?.[0] ?? ''
    const { status, html: refused } = await visitPage(app, path, { cookie: eve, form: {} })
    assert.equal(status, 404)
    assert.match(refused, /role="alert">Key not found/)
  })
})
