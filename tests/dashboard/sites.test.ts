import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findUserByEmail, updatePlan } from '../../lib/accounts/users.ts'
import { ask, enter } from '../dashboard.ts'
import { makeApp, NOON, type TestApp } from '../helpers.ts'

const SHOP = 'https://shop.example'
const HOUR_MS = 3_600_000

async function sendBeacon(app: TestApp, agent = 'Mozilla/5.0'): Promise<void> {
  const headers = { origin: SHOP, 'user-agent': agent }
  const body = { metrics: { lcp: 1_200 } }
  assert.equal((await app.send('POST', '/v1/telemetry/rum', { headers, body })).status, 204)
}

function add(app: TestApp, cookie: string, name: string) {
  return ask(app, '/app/sites', { cookie, form: { name } })
}

function removePath(html: string): string {
  return /\/app\/sites\/[0-9a-f-]{36}\/remove/.exec(html)?.[0] ?? ''
}

describe('the page of sites', () => {
  it('adds a site with its snippets, and says so in the audit log', async () => {
    using app = await makeApp({ env: { MERIDIAN_BASE_URL: 'https://geo.example' } })
    const cookie = await enter(app)
    assert.match((await ask(app, '/app/sites', { cookie })).html, /No sites yet/)
    const { status, location } = await add(app, cookie, 'https://Shop.example/')
    assert.equal(status, 303)
    const { html } = await ask(app, location ?? '', { cookie })
    assert.match(html, /The site is added/)
    assert.match(html, /<h2>https:\/\/shop\.example<\/h2>/)
    const snippet = '&lt;script defer src=&quot;https://geo.example/rum.js&quot;&gt;&lt;/script&gt;'
    assert.ok(html.includes(snippet))
    assert.match(html, /rum\.[0-9a-f]{16}\.js&quot; integrity=&quot;sha384-/)
    assert.match(html, /script-src https:\/\/geo\.example; connect-src https:\/\/geo\.example/)
    const row = app.services.db.$client
      .prepare("SELECT app, detail FROM audit_log WHERE action = 'create_site'")
      .get()
    assert.deepEqual(row, { app: 'dashboard', detail: SHOP })
  })

  it('says why a site cannot be added, and keeps what was typed as text', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    const typed = '"><script>alert(1)</script>'
    const { status, html } = await add(app, cookie, typed)
    assert.equal(status, 400)
    assert.match(html, /role="alert">name: must be an http or https origin/)
    assert.ok(html.includes('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"'))
    await add(app, cookie, SHOP)
    const again = await add(app, cookie, SHOP)
    assert.equal(again.status, 400)
    assert.match(again.html, /role="alert">Cannot add https:\/\/shop\.example: it is one of your/)
  })

  it('removes a site, and none of somebody else', async () => {
    using app = await makeApp()
    const [ada, eve] = [await enter(app), await enter(app, 'eve@example.com')]
    await add(app, ada, SHOP)
    const path = removePath((await ask(app, '/app/sites', { cookie: ada })).html)
    const refused = await ask(app, path, { cookie: eve, form: {} })
    assert.equal(refused.status, 404)
    assert.match(refused.html, /role="alert">Site not found/)
    const { location } = await ask(app, path, { cookie: ada, form: {} })
    const { html } = await ask(app, location ?? '', { cookie: ada })
    assert.match(html, /The site is removed/)
    assert.match(html, /No sites yet/)
  })

  it('keeps sites above the limit of a smaller plan, and offers no new one', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    const { db } = app.services
    const { id } = (await findUserByEmail(db, 'ada@example.com')) ?? assert.fail()
    updatePlan(db, id, 'pro').run()
    await add(app, cookie, SHOP)
    assert.match(
      (await ask(app, '/app/sites', { cookie })).html,
      /<form[^>]* action="\/app\/sites"/,
    )
    await add(app, cookie, 'https://blog.example')
    assert.match((await ask(app, '/app/sites', { cookie })).html, /The plan Pro has 2 sites\./)
    updatePlan(db, id, 'free').run()
    const { html } = await ask(app, '/app/sites', { cookie })
    assert.match(html, /The plan Free has 1 site: all 2 of yours go on, without new ones/)
    assert.doesNotMatch(html, /<form[^>]* action="\/app\/sites"/)
    await sendBeacon(app)
    assert.match((await ask(app, '/app/sites', { cookie })).html, />Receiving</)
  })
})

describe('the state of a site', () => {
  it('is asked for again until a beacon has come', async () => {
    let now = NOON
    using app = await makeApp({ now: () => now })
    const cookie = await enter(app)
    await add(app, cookie, SHOP)
    const state = async () => (await ask(app, '/app/sites', { cookie })).html
    const waiting = await state()
    assert.match(waiting, />Waiting</)
    assert.match(waiting, /aria-live="polite" data-refresh="15"/)
    await sendBeacon(app)
    const receiving = await state()
    assert.match(receiving, />Receiving<\/span> 1 beacon in the last 24 hours/)
    assert.match(receiving, /2026-01-15 12:00 UTC/)
    assert.doesNotMatch(receiving, /data-refresh/)
    now = NOON + 30 * HOUR_MS
    assert.match(
      await state(),
      />Quiet<[\s\S]*The last one came in\s+the hour of 2026-01-15 12:00 UTC/,
    )
  })

  it('tells of programs that are not counted', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    await add(app, cookie, SHOP)
    await sendBeacon(app, 'Mozilla/5.0 (X11) HeadlessChrome/140.0')
    const { html } = await ask(app, '/app/sites', { cookie })
    assert.match(html, /1 came from programs that say so/)
  })

  it('is unknown, and asked for less often, where the limit of the plan is used up', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    await add(app, cookie, SHOP)
    for (let n = 0; n < 10; n++) await ask(app, '/app/sites', { cookie })
    const { status, html } = await ask(app, '/app/sites', { cookie })
    assert.equal(status, 200)
    assert.match(html, /data-refresh="60"/)
    assert.match(html, /Beacons cannot be counted now: Too many requests/)
  })
})
