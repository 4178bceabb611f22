import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { makeApp, type TestApp } from '../support/helpers.ts'
import { signInNewUser, visitPage } from './pages.ts'

/** Uses up the user's limit except for `requests` requests. */
function leaveRequests({ services: { limits, now } }: TestApp, userId: string, requests: number) {
  while (limits.account.take(userId, now()).allowed);
  for (let left = 0; left < requests; left++) limits.account.refund(userId)
}

describe('the keys page', () => {
  it('shows a new key once, and the key works', async () => {
    await using app = await makeApp()
    const cookie = await signInNewUser(app)
    const form = { name: 'Shop', type: 'secret', scope: ['geo:read', 'account:read'] }
    const made = await visitPage(app, '/app/keys', { cookie, form })
    assert.equal(made.status, 201)
    const [key = ''] = /sk_live_[0-9a-f]{64}/.exec(made.html) ?? []
    const located = await app.send('GET', '/v1/ip/81.2.69.160', { key })
    assert.equal(located.status, 200)
    const { html } = await visitPage(app, '/app/keys', { cookie })
    assert.match(html, /geo:read, account:read/)
    assert.ok(!html.includes(key))
  })

  it('shows a new key even if the limit is reached before the list is read', async () => {
    await using app = await makeApp()
    const cookie = await signInNewUser(app)
    const [id, keys] = ['SELECT id FROM users', 'SELECT count(*) FROM api_keys'].map((sql) =>
      app.services.db.$client.prepare(sql).pluck(),
    )
    let html = ''
    for (let requests = 0; keys?.get() === 0; requests++) {
      assert.ok(requests < 20, 'no key was created')
      leaveRequests(app, String(id?.get()), requests)
      html = (await visitPage(app, '/app/keys', { cookie, form: { name: 'Shop' } })).html
    }
    assert.match(html, /sk_live_[0-9a-f]{64}/)
  })

  it('revokes a key at once, and records it in the audit log', async () => {
    await using app = await makeApp()
    const cookie = await signInNewUser(app)
    const { html } = await visitPage(app, '/app/keys', { cookie, form: { name: 'Shop' } })
    const [key = ''] = /sk_live_[0-9a-f]{64}/.exec(html) ?? []
    const path = /\/app\/keys\/[0-9a-f]{32}\/revoke/.exec(html)?.[0] ?? ''
    const { status, location } = await visitPage(app, path, { cookie, form: {} })
    assert.equal(status, 303)
    assert.match((await visitPage(app, location ?? '', { cookie })).html, /Key revoked/)
    assert.equal((await app.send('GET', '/v1/ip/81.2.69.160', { key })).status, 401)
    const rows = app.services.db.$client
      .prepare("SELECT app, action FROM audit_log WHERE action LIKE '%key' ORDER BY id")
      .all()
    assert.deepEqual(rows, [
      { app: 'dashboard', action: 'create_key' },
      { app: 'dashboard', action: 'revoke_key' },
    ])
  })

  it('shows why a key cannot be created, and keeps the input', async () => {
    await using app = await makeApp()
    const cookie = await signInNewUser(app)
    const form = { name: 'Shop', type: 'publishable', origins: 'ftp://shop.example' }
    const { status, html } = await visitPage(app, '/app/keys', { cookie, form })
    assert.equal(status, 400)
    assert.match(html, /role="alert">[^<]*allowedOrigins/)
    assert.match(html, /ftp:\/\/shop\.example<\/textarea>/)
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
    const { html } = await visitPage(app, '/app/keys', { cookie: ada, form: { name: 'Ada' } })
    const path = /\/app\/keys\/[0-9a-f]{32}\/revoke/.exec(html)?.[0] ?? ''
    const { status, html: refused } = await visitPage(app, path, { cookie: eve, form: {} })
    assert.equal(status, 404)
    assert.match(refused, /role="alert">Key not found/)
  })
})
