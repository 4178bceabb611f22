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
    const scope = ['geo:read', 'account:read']
    const form = { name: 'Shop', type: 'secret', access: 'custom', scope }
    const [key = ''] = KEY.exec((await create(ada, form)).html) ?? []
    assert.equal((await app.send('GET', '/v1/ip/81.2.69.160', { key })).status, 200)
    const { html } = await ada.visit('/app/keys')
    assert.match(html, /account:read, geo:read/)
    assert.match(
      html,
      /<time datetime="2026-01-15T12[^"]+" title="2026-01-15 12:00:00 UTC">15 Jan, 12:00<\/time>/,
      'its last use',
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
    assert.match(html, /<th scope="row"><bdi>later\u202e<\/bdi>/)
    assert.match(html, /aria-label="Actions for later"/)
    assert.match(html, /aria-label="Renew later"/)
    const refused = await ada.submit('/app/keys', { name: 'late\u202er' })
    assert.match(refused.html, /id="name-problem" role="alert">Must not be blank, and must have no/)
  })

  it('gives a key the permissions that are chosen, and no more than look-ups if none are', async () => {
    const { html } = await ada.visit('/app/keys/new')
    assert.match(html, /value="look-ups" checked=""\/><span>Look-ups only <span[^>]*>Recommended/)
    const scope = 'account:write'
    for (const [form, status, text] of [
      [{}, 403, 'Look-ups only'],
      [{ access: 'look-ups', scope }, 403, 'Look-ups only'],
      [{ access: 'read', scope }, 200, 'Read account'],
      [{ access: 'full' }, 200, 'Full access'],
      [{ access: 'custom', scope }, 403, 'account:write'],
    ] as const) {
      const made = await create(ada, { name: 'Shop', ...form })
      const [key = ''] = KEY.exec(made.html) ?? []
      assert.equal((await app.send('GET', '/v1/account/me', { key })).status, status)
      assert.match(made.html, new RegExp(`<td data-head="Permissions">${text}</td>`))
      await write(app, 'DELETE FROM api_keys')
    }
    const none = await ada.submit('/app/keys', { name: 'Shop', access: 'custom' })
    assert.equal(none.status, 400)
    assert.match(none.html, /id="scope-problem" role="alert">Must have at least 1 entry/)
  })

  it('has a link to the form, also while there are none', async () => {
    const link = /class="button" href="\/app\/keys\/new"/
    const empty = await ada.visit('/app/keys')
    assert.match(empty.html, /No keys yet/)
    assert.match(empty.html, link)
    const { html } = await create(ada, { name: 'One' })
    assert.match(html, link)
    assert.doesNotMatch(html, /No keys yet/)
  })

  it('says how many keys the plan allows, and offers no more than those', async () => {
    assert.match((await create(ada, { name: 'One' })).html, /1 of 2 keys/)
    const { html } = await create(ada, { name: 'Two' })
    assert.match(html, /2 of 2 keys/)
    assert.match(html, /The Free plan allows 2 keys\..*change your plan/s)
    assert.doesNotMatch(html, /href="\/app\/keys\/new"/)
    const form = await ada.visit('/app/keys/new')
    assert.match(form.html, /The Free plan allows 2 keys\./)
    assert.doesNotMatch(form.html, /<form[^>]* action="\/app\/keys"/)
  })

  it('revokes a key at once, and records it in the audit log', async () => {
    const { html } = await create(ada, { name: 'Shop' })
    const [key = ''] = KEY.exec(html) ?? []
    const path = /\/app\/keys\/[0-9a-f]{32}\/revoke/.exec(html)?.[0] ?? ''
    assert.match((await ada.visit(path)).html, /<h1>Revoke the key\?.*<bdi>Shop<\/bdi>/s)
    const { status, location } = await ada.submit(path)
    assert.equal(status, 303)
    assert.match((await ada.visit(location ?? '')).html, /Key revoked/)
    assert.equal((await app.send('GET', '/v1/ip/81.2.69.160', { key })).status, 401)
    const again = await ada.submit(path)
    assert.equal(again.status, 404)
    const gone = await ada.visit(path)
    assert.equal(gone.status, 404)
    for (const { html } of [again, gone]) {
      assert.match(html, /Key not found; it may have been revoked already/)
    }
    const ofKeys = "SELECT app, action FROM audit_log WHERE action LIKE '%key' ORDER BY id"
    assert.deepEqual(await readRows(app, ofKeys), [
      ['dashboard', 'create_key'],
      ['dashboard', 'revoke_key'],
    ])
  })

  it('rotates a key: shows the new one, and says until when the old one works', async () => {
    const { html } = await create(ada, { name: 'Shop' })
    const [old = ''] = KEY.exec(html) ?? []
    const [path = ''] = /\/app\/keys\/[0-9a-f]{32}\/rotate/.exec(html) ?? []
    assert.match((await ada.visit(path)).html, /<option value="86400" selected="">For a day/)
    const made = await ada.submit(path, { grace: '3600' })
    assert.equal(made.status, 303)
    const cookie = withCookiesOf(made, await ada.enter())
    const after = await visitPage(app, made.location ?? '', { cookie })
    const [key = ''] = KEY.exec(after.html) ?? []
    assert.match(after.html, /1 of 2 keys/)
    assert.match(after.html, /Replaced.*15 Jan, 13:00<\/time>/s)
    for (const each of [old, key]) {
      assert.equal((await app.send('GET', '/v1/ip/81.2.69.160', { key: each })).status, 200)
    }
    const again = await ada.submit(path, { grace: '3600' })
    const asked = await ada.visit(path)
    assert.deepEqual([again.status, asked.status], [400, 400])
    for (const { html: refused } of [again, asked]) {
      assert.match(refused, /role="alert">The key has already been replaced: use the new one/)
      assert.doesNotMatch(refused, /name="grace"/)
    }
    app.pass(60 * MINUTE_MS)
    assert.equal((await app.send('GET', '/v1/ip/81.2.69.160', { key: old })).status, 401)
    const { html: later } = await ada.visit('/app/keys')
    assert.equal(later.match(/Rotate…/g)?.length, 1)
  })

  it('lets a key expire when its owner chooses', async () => {
    const { html } = await create(ada, { name: 'Shop', lifetime: '7' })
    assert.match(html, /data-head="Expires"><time datetime="2026-01-22T/)
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
    assert.match(html, /aria-describedby="origins-problem origins-hint" aria-invalid="true"/)
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
    const { html } = await ada.visit('/app/keys')
    const [revoke = ''] = /\/app\/keys\/[0-9a-f]{32}\/revoke/.exec(html) ?? []
    for (const path of ['/app/usage', '/app/keys', revoke]) {
      const { html } = await ada.visit(path)
      assert.ok(!html.includes('<script>alert'), path)
      assert.ok(html.includes('&lt;script&gt;alert(1)'), path)
    }
  })

  it('answers 404 for a key of another user', async () => {
    const { html } = await create(ada, { name: 'Ada' })
    const path = /\/app\/keys\/[0-9a-f]{32}\/revoke/.exec(html)?.[0] ?? ''
    for (const page of [await eve.submit(path), await eve.visit(path)]) {
      assert.equal(page.status, 404)
      assert.match(page.html, /role="alert">Key not found/)
      assert.doesNotMatch(page.html, /Ada/)
    }
  })
})
