import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { updatePlan } from '../../lib/accounts/users.ts'
import { HOUR_MS } from '../../lib/parts/durations.ts'
import { createFindTxt } from '../../lib/parts/net/txt-records.ts'
import { openSiteProofs } from '../../lib/services/sites/site-proofs.ts'
import { readRows } from '../support/database/sql.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { makeApp, NOON } from '../support/helpers.ts'
import { leaveCalls } from '../support/scene/pages.ts'
import type { Person } from '../support/scene/person.ts'
import { freshScene } from '../support/scene/scene.ts'
import { textOf } from './vitals/shop.ts'

const app = freshScene()
const ada = app.user('ada')
const eve = app.user('eve')

const SHOP = 'https://shop.example'

async function sendBeacon(agent = 'Mozilla/5.0'): Promise<void> {
  const headers = { origin: SHOP, 'user-agent': agent }
  const body = { metrics: { lcp: 1_200 } }
  assert.equal((await app.send('POST', '/v1/telemetry/rum', { headers, body })).status, 204)
}

function add(by: Person, name: string) {
  return by.submit('/app/sites', { name })
}

function removePath(html: string): string {
  return /\/app\/sites\/[0-9a-f-]{36}\/remove/.exec(html)?.[0] ?? ''
}

describe('the sites page', () => {
  it('adds a site, shows its snippets, and records it in the audit log', async () => {
    await using app = await makeApp({ env: { MERIDIAN_BASE_URL: 'https://geo.example' } })
    const ada = app.user('ada')
    assert.match((await ada.visit('/app/sites')).html, /No sites yet/)
    const { status, location } = await add(ada, 'https://Shop.example/')
    assert.equal(status, 303)
    const { html } = await ada.visit(location ?? '')
    assert.match(html, /Site added/)
    assert.match(html, /<h2>https:\/\/shop\.example<\/h2>/)
    const snippet = '&lt;script defer src=&quot;https://geo.example/rum.js&quot;&gt;&lt;/script&gt;'
    assert.ok(html.includes(snippet))
    assert.match(html, /rum\.[0-9a-f]{16}\.js&quot; integrity=&quot;sha384-/)
    assert.match(html, /script-src https:\/\/geo\.example; connect-src https:\/\/geo\.example/)
    const added = "SELECT app, detail FROM audit_log WHERE action = 'create_site'"
    assert.deepEqual(await readRows(app, added), [['dashboard', SHOP]])
  })

  for (const [typed, name] of [
    ['www.shop.example/', 'https://www.shop.example'],
    ['shop.example:8443', 'https://shop.example:8443'],
    ['http://plain.example', 'http://plain.example'],
  ] as const) {
    it(`takes ${typed} for ${name}`, async () => {
      const { status, location } = await add(ada, typed)
      assert.equal(status, 303)
      assert.ok((await ada.visit(location ?? '')).html.includes(`<h2>${name}</h2>`))
    })
  }

  it('shows why a site cannot be added, and keeps the escaped input', async () => {
    const typed = '"><script>alert(1)</script>'
    const { status, html } = await add(ada, typed)
    assert.equal(status, 400)
    assert.match(html, /id="name-problem" role="alert">Must be an http or https origin/)
    assert.ok(html.includes('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"'))
    await add(ada, SHOP)
    const again = await add(ada, SHOP)
    assert.equal(again.status, 400)
    assert.match(again.html, /role="alert">Cannot add https:\/\/shop\.example: it is already one/)
  })

  it('removes a site of the user, but not of another user', async () => {
    await add(ada, SHOP)
    const path = removePath((await ada.visit('/app/sites')).html)
    const refused = await eve.submit(path)
    assert.equal(refused.status, 404)
    assert.match(refused.html, /role="alert">Site not found/)
    const question = await ada.visit(path)
    assert.match(question.html, /<h1>Remove the site\?<\/h1>.*https:\/\/shop\.example/s)
    assert.equal((await eve.visit(path)).status, 404)
    const { location } = await ada.submit(path)
    const { html } = await ada.visit(location ?? '')
    assert.match(html, /Site removed/)
    assert.match(html, /No sites yet/)
    assert.match((await ada.visit(path)).html, /Site not found; it may have been removed already/)
  })

  it('keeps sites over the limit after a downgrade, and offers no new one', async () => {
    const { db } = app.services
    const { id } = await ada.row()
    await updatePlan(db, id, 'pro').run()
    await add(ada, SHOP)
    assert.match((await ada.visit('/app/sites')).html, /<form[^>]* action="\/app\/sites"/)
    await add(ada, 'https://blog.example')
    assert.match((await ada.visit('/app/sites')).html, /The Pro plan allows 2 sites\./)
    await updatePlan(db, id, 'free').run()
    const { html } = await ada.visit('/app/sites')
    assert.match(html, /The Free plan allows 1 site\. All 2 of your sites keep working\./)
    assert.doesNotMatch(html, /<form[^>]* action="\/app\/sites"/)
    await sendBeacon()
    assert.match((await ada.visit('/app/sites')).html, />Receiving</)
  })
})

describe('the proof of a site', () => {
  it('shows the DNS record, checks it, and says what the check found', async () => {
    await using dns = await startDnsServer()
    const findTxt = createFindTxt([dns.address])
    await using app = await makeApp({
      replace: (services) => ({ siteProofs: openSiteProofs(services, findTxt) }),
    })
    const ada = app.user('ada')
    const eve = app.user('eve')
    await add(ada, SHOP)
    await add(eve, SHOP)
    const page = async (by: Person) => (await by.visit('/app/sites')).html
    assert.match(
      await page(ada),
      />Unproven<.*<details><summary>Prove the domain<\/summary><p>You get the beacons because/s,
    )
    const refused = await page(eve)
    assert.match(
      refused,
      />Not receiving<.*<details open="">.*Another account registered this origin first/s,
    )
    assert.match(refused, /at <strong>shop\.example or _meridian\.shop\.example<\/strong>/)
    assert.doesNotMatch(refused, /data-refresh/)
    const [path = '', id = ''] = /\/app\/sites\/([0-9a-f-]{36})\/proof/.exec(refused) ?? []
    const record = `meridian-site=${id}`
    assert.ok(refused.includes(record))
    const missed = await eve.submit(path)
    assert.match(missed.html, /role="alert">The DNS does not show the record/)
    assert.match(missed.html, /<details open=""><summary>Prove the domain/)
    dns.zone.set('_meridian.shop.example', 'broken')
    const failed = await eve.submit(path)
    assert.match(failed.html, /role="alert">The DNS does not answer/)
    dns.zone.set('_meridian.shop.example', [record])
    const { location } = await eve.submit(path)
    const { html } = await eve.visit(location ?? '')
    assert.match(html, /The DNS record is there[\s\S]*>Proven</)
    assert.match(await page(ada), />Not receiving<.*Another account registered/s)
  })

  it('is not offered for localhost', async () => {
    await add(ada, 'http://localhost:3000')
    const { html } = await ada.visit('/app/sites')
    assert.match(html, />Unproven<.*You get the beacons because nobody registered/s)
    assert.doesNotMatch(html, /Check now/)
    await add(eve, 'http://localhost:3000')
    const refused = (await eve.visit('/app/sites')).html
    assert.match(refused, />Not receiving<.*Another account registered this origin first\./s)
  })
})

describe('the state of a site', () => {
  it('refreshes until a beacon arrives', async () => {
    await add(ada, SHOP)
    const state = async () => (await ada.visit('/app/sites')).html
    const waiting = await state()
    assert.match(waiting, />Waiting</)
    const refreshed = [...waiting.matchAll(/id="(badge|state)-[^>]*? data-refresh="15"/g)]
    assert.deepEqual(
      refreshed.map(([, part]) => part),
      ['badge', 'state'],
    )
    const announced = [...waiting.matchAll(/id="(badge|state)-[^>]*? aria-live="polite"/g)]
    assert.deepEqual(
      announced.map(([, part]) => part),
      ['state'],
      'one announcement for each change',
    )
    await sendBeacon()
    const receiving = await state()
    assert.match(receiving, />Receiving<.*<p>1 beacon in the last 24 hours/s)
    const last = 'Last beacon: 15 Jan, 12:00 to 13:00 UTC .'
    assert.ok(textOf(receiving).includes(last))
    assert.doesNotMatch(receiving, /data-refresh/)
    app.setClock(NOON + 30 * HOUR_MS)
    const quiet = await state()
    assert.match(quiet, />Quiet</)
    assert.ok(textOf(quiet).includes(last))
  })

  it('reports bots that did not count', async () => {
    await add(ada, SHOP)
    await sendBeacon('Mozilla/5.0 (X11) HeadlessChrome/140.0')
    const page = async () => (await ada.visit('/app/sites')).html
    assert.match(await page(), /Waiting<.*1 beacon of bots and automated browsers did not count/s)
    await sendBeacon()
    assert.match(await page(), /Receiving<.*1 beacon of bots and automated browsers did not count/s)
  })

  it('counts the same 24 hours as the web vitals page, also from before the site was added', async () => {
    await add(ada, SHOP)
    await sendBeacon()
    app.setClock(NOON + 5 * HOUR_MS)
    await sendBeacon()
    // As `npm run demo:rum` leaves it.
    const added = 'UPDATE sites SET created_at = ?'
    await app.services.db.execute({ sql: added, params: [NOON + 5 * HOUR_MS] })
    assert.match((await ada.visit('/app/sites')).html, /2 beacons in the last 24 hours/)
    assert.match((await ada.visit('/app/vitals?period=24h')).html, />2 views</)
    app.setClock(NOON + 24 * HOUR_MS)
    assert.match((await ada.visit('/app/sites')).html, /1 beacon in the last 24 hours/)
    assert.match((await ada.visit('/app/vitals?period=24h')).html, />1 view</)
  })

  it('needs no requests of the plan', async () => {
    await add(ada, SHOP)
    await sendBeacon()
    for (let n = 0; n < 20; n++) assert.match((await ada.visit('/app/sites')).html, />Receiving</)
  })

  it('is unknown, and refreshes less often, if the beacons cannot be counted', async () => {
    await add(ada, SHOP)
    // For the profile, the sites, the plan and the proof.
    await leaveCalls(app, 4)
    const { status, html } = await ada.visit('/app/sites')
    assert.equal(status, 200)
    assert.match(html, /data-refresh="60"/)
    assert.match(html, /Cannot count beacons now: Too many requests/)
  })
})
