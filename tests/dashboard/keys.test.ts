import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MINUTE_MS } from '../../lib/parts/durations.ts'
import { readRows, write } from '../support/database/sql.ts'
import { leaveCalls, type PageOptions, visitPage, withCookiesOf } from '../support/scene/pages.ts'
import type { Person } from '../support/scene/person.ts'
import { freshScene } from '../support/scene/scene.ts'

const app = freshScene()
const ada = app.user('ada')
const eve = app.user('eve')

const KEY = /sk_live_[0-9a-f]{64}/

/** Creates a key, and returns the page that then shows it. */
async function create(by: Person, form: PageOptions['form']) {
  const made = await by.submit('/app/keys', form)
  assert.equal(made.status, 303)
  const path = made.location ?? ''
  const after = withCookiesOf(made, await by.enter())
  return { path, after, ...(await visitPage(app, path, { cookie: after })) }
}

describe('the keys page', () => {
  it('shows a new key, and the key works', async () => {
    const form = { name: 'Shop', type: 'secret', scope: ['geo:read', 'account:read'] }
    const [key = ''] = KEY.exec((await create(ada, form)).html) ?? []
    assert.equal((await app.send('GET', '/v1/ip/81.2.69.160', { key })).status, 200)
    const { html } = await ada.visit('/app/keys')
    assert.match(html, /geo:read, account:read/)
    assert.match(
      html,
      /<time datetime="[^"]+" title="([^"]+ UTC)">\1<\/time>/,
      'the zone of its last use',
    )
    assert.ok(!html.includes(key))
  })

  it('shows a new key again if it is reloaded, for ten minutes and to its user alone', async () => {
    const adaCookie = await ada.enter()
    const eveCookie = await eve.enter()
    const { path, after, html } = await create(ada, { name: 'Shop' })
    const [key = ''] = KEY.exec(html) ?? []
    assert.ok(html.includes(`X-API-Key: ${key}`), 'the command with which to try it')
    const reload = async (cookie: string) => (await visitPage(app, path, { cookie })).html
    assert.ok((await reload(after)).includes(key))
    assert.match(await reload(after), /1 of 2 keys/)
    // In the same browser.
    assert.ok(!(await reload(after.replace(adaCookie, eveCookie))).includes(key))
    assert.ok(!(await visitPage(app, '/app/keys', { cookie: after })).html.includes(key))
    assert.ok(!(await reload(`${after}0`)).includes(key))
    app.pass(10 * MINUTE_MS)
    assert.ok(!(await reload(after)).includes(key))
  })

  it('shows a new key even if the limit is reached before the list is read', async () => {
    const { path, after } = await create(ada, { name: 'Shop' })
    // One for the profile.
    await leaveCalls(app, 1)
    assert.match((await visitPage(app, path, { cookie: after })).html, KEY)
  })

  it('creates a key for look-ups with one click, from the first page and the overview', async () => {
    for (const page of ['/', '/app']) {
      const { html } = await ada.visit(page)
      const [form = ''] = /<form method="post" action="\/app\/keys">.*?<\/form>/s.exec(html) ?? []
      const fields = [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)]
      const sent = Object.fromEntries(fields.map(([, name, value]) => [name, value ?? '']))
      const [key = ''] = KEY.exec((await create(ada, sent)).html) ?? []
      assert.equal((await app.send('GET', '/v1/ip/81.2.69.160', { key })).status, 200)
      assert.equal((await app.send('GET', '/v1/account/me', { key })).status, 403)
      await write(app, 'DELETE FROM api_keys')
    }
  })

  it('keeps the writing direction of a name from the words around it', async () => {
    const { path, after } = await create(ada, { name: 'later' })
    await write(app, `UPDATE api_keys SET name = 'later\u202e'`)
    const { html } = await visitPage(app, path, { cookie: after })
    assert.match(html, /<strong><bdi>later<\/bdi><\/strong> is ready/)
    assert.match(html, /<h2><bdi>later\u202e<\/bdi><\/h2>/)
    assert.match(html, /aria-label="Renew later"/)
    const refused = await ada.submit('/app/keys', { name: 'late\u202er' })
    assert.match(refused.html, /id="name-problem" role="alert">Must not be blank, and must have no/)
  })

  it('says before it is made that a key without permissions has full access', async () => {
    assert.match((await ada.visit('/app/keys')).html, /If you tick none, the key has full access/)
  })

  it('says how many keys the plan allows, and offers no more than those', async () => {
    assert.match((await create(ada, { name: 'One' })).html, /1 of 2 keys/)
    const { html } = await create(ada, { name: 'Two' })
    assert.match(html, /2 of 2 keys/)
    assert.match(html, /The Free plan allows 2 keys\..*change your plan/s)
    assert.doesNotMatch(html, /<form[^>]* action="\/app\/keys"/)
  })

  it('revokes a key at once, and records it in the audit log', async () => {
    const { html } = await create(ada, { name: 'Shop' })
    const [key = ''] = KEY.exec(html) ?? []
    const path = /\/app\/keys\/[0-9a-f]{32}\/revoke/.exec(html)?.[0] ?? ''
    const { status, location } = await ada.submit(path)
    assert.equal(status, 303)
    assert.match((await ada.visit(location ?? '')).html, /Key revoked/)
    assert.equal((await app.send('GET', '/v1/ip/81.2.69.160', { key })).status, 401)
    const again = await ada.submit(path)
    assert.equal(again.status, 404)
    assert.match(again.html, /Key not found; it may have been revoked already/)
    const ofKeys = "SELECT app, action FROM audit_log WHERE action LIKE '%key' ORDER BY id"
    assert.deepEqual(await readRows(app, ofKeys), [
      ['dashboard', 'create_key'],
      ['dashboard', 'revoke_key'],
    ])
  })

  it('rotates a key: shows the new one, and says until when the old one works', async () => {
    const { html } = await create(ada, { name: 'Shop' })
    const [old = ''] = KEY.exec(html) ?? []
    const [, path = '', id = ''] = /(\/app\/keys\/([0-9a-f]{32})\/rotate)/.exec(html) ?? []
    const made = await ada.submit(path, { [`grace-${id}`]: '3600' })
    assert.equal(made.status, 303)
    const cookie = withCookiesOf(made, await ada.enter())
    const after = await visitPage(app, made.location ?? '', { cookie })
    const [key = ''] = KEY.exec(after.html) ?? []
    assert.match(after.html, /1 of 2 keys/)
    assert.match(after.html, /Replaced.*Works until/s)
    for (const each of [old, key]) {
      assert.equal((await app.send('GET', '/v1/ip/81.2.69.160', { key: each })).status, 200)
    }
    const again = await ada.submit(path, { [`grace-${id}`]: '3600' })
    assert.match(again.html, /role="alert">The key has already been replaced/)
    app.pass(60 * MINUTE_MS)
    assert.equal((await app.send('GET', '/v1/ip/81.2.69.160', { key: old })).status, 401)
    assert.doesNotMatch((await ada.visit('/app/keys')).html, /Rotate Shop….*Rotate Shop…/s)
  })

  it('lets a key expire when its owner chooses', async () => {
    const { html } = await create(ada, { name: 'Shop', lifetime: '7' })
    assert.match(html, /Expires<\/dt><dd><time datetime="2026-01-22T/)
    const wrong = await ada.submit('/app/keys', { name: 'Shop', lifetime: 'soon' })
    assert.equal(wrong.status, 400)
    assert.match(wrong.html, /id="lifetime-problem" role="alert">/)
  })

  it('offers to renew only keys that expire', async () => {
    const { html } = await create(ada, { name: 'Shop' })
    assert.match(html, /Renew Shop/)
    await write(app, 'UPDATE api_keys SET expires_at = NULL')
    assert.doesNotMatch((await ada.visit('/app/keys')).html, /Renew Shop/)
  })

  it('shows why a key cannot be created, and keeps the input', async () => {
    const form = { name: 'Shop', type: 'publishable', origins: 'ftp://shop.example' }
    const { status, html } = await ada.submit('/app/keys', form)
    assert.equal(status, 400)
    assert.match(html, /id="origins-problem" role="alert">Must look like https:/)
    assert.match(html, /aria-describedby="origins-hint origins-problem" aria-invalid="true"/)
    assert.match(html, /ftp:\/\/shop\.example<\/textarea>/)
    assert.doesNotMatch(html, /allowedOrigins/)
    const none = await ada.submit('/app/keys', { ...form, origins: '' })
    assert.match(none.html, /id="origins-problem" role="alert">Must have at least 1 entry/)
    const blank = await ada.submit('/app/keys', { name: ' ' })
    assert.match(blank.html, /id="name-problem" role="alert">Must not be blank/)
  })

  it('escapes markup in names', async () => {
    const name = '"><script>alert(1)</script>'
    await ada.submit('/app/keys', { name })
    for (const path of ['/app', '/app/keys']) {
      const { html } = await ada.visit(path)
      assert.ok(!html.includes('<script>alert'), path)
      assert.ok(html.includes('&lt;script&gt;alert(1)'), path)
    }
  })

  it('answers 404 for a key of another user', async () => {
    const { html } = await create(ada, { name: 'Ada' })
    const path = /\/app\/keys\/[0-9a-f]{32}\/revoke/.exec(html)?.[0] ?? ''
    const { status, html: refused } = await eve.submit(path)
    assert.equal(status, 404)
    assert.match(refused, /role="alert">Key not found/)
  })
})
