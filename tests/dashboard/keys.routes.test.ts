import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ask, enter } from '../dashboard.ts'
import { makeApp } from '../helpers.ts'

describe('the page of keys', () => {
  it('shows a new key once, which works from then on', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    const form = { name: 'Shop', type: 'secret', scope: ['geo:read', 'account:read'] }
    const made = await ask(app, '/app/keys', { cookie, form })
    assert.equal(made.status, 201)
    const [key = ''] = /sk_live_[0-9a-f]{64}/.exec(made.html) ?? []
    const located = await app.send('GET', '/v1/ip/81.2.69.160', { key })
    assert.equal(located.status, 200)
    const { html } = await ask(app, '/app/keys', { cookie })
    assert.match(html, /geo:read, account:read/)
    assert.ok(!html.includes(key))
  })

  it('revokes a key for the next request on, and says so in the audit log', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    const { html } = await ask(app, '/app/keys', { cookie, form: { name: 'Shop' } })
    const [key = ''] = /sk_live_[0-9a-f]{64}/.exec(html) ?? []
    const path = /\/app\/keys\/[0-9a-f]{32}\/revoke/.exec(html)?.[0] ?? ''
    const { status, location } = await ask(app, path, { cookie, form: {} })
    assert.equal(status, 303)
    assert.match((await ask(app, location ?? '', { cookie })).html, /The key is revoked/)
    assert.equal((await app.send('GET', '/v1/ip/81.2.69.160', { key })).status, 401)
    const rows = app.services.db.$client
      .prepare("SELECT app, action FROM audit_log WHERE action LIKE '%key' ORDER BY id")
      .all()
    assert.deepEqual(rows, [
      { app: 'dashboard', action: 'create_key' },
      { app: 'dashboard', action: 'revoke_key' },
    ])
  })

  it('says why a key cannot be made, and keeps what was typed', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    const form = { name: 'Shop', type: 'publishable', origins: 'ftp://shop.example' }
    const { status, html } = await ask(app, '/app/keys', { cookie, form })
    assert.equal(status, 400)
    assert.match(html, /role="alert">[^<]*allowedOrigins/)
    assert.match(html, /ftp:\/\/shop\.example<\/textarea>/)
  })

  it('shows markup in names and origins as text', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    const name = '"><script>alert(1)</script>'
    await ask(app, '/app/keys', { cookie, form: { name } })
    for (const path of ['/app', '/app/keys']) {
      const { html } = await ask(app, path, { cookie })
      assert.ok(!html.includes('<script>alert'), path)
      assert.ok(html.includes('&lt;script&gt;alert(1)'), path)
    }
  })

  it('answers for a key of somebody else as for none', async () => {
    using app = await makeApp()
    const [ada, eve] = [await enter(app), await enter(app, 'eve@example.com')]
    const { html } = await ask(app, '/app/keys', { cookie: ada, form: { name: 'Ada' } })
    const path = /\/app\/keys\/[0-9a-f]{32}\/revoke/.exec(html)?.[0] ?? ''
    const { status, html: told } = await ask(app, path, { cookie: eve, form: {} })
    assert.equal(status, 404)
    assert.match(told, /role="alert">Key not found/)
  })
})
