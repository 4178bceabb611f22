import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { updatePlan } from '../../../lib/accounts/users.ts'
import { DAY_MS } from '../../../lib/parts/durations.ts'
import { silentLog } from '../../../lib/parts/log/log.ts'
import { readColumn, readRows, readValue, write } from '../../support/database/sql.ts'
import { type Page, visitPage, withCookiesOf } from '../../support/scene/pages.ts'
import { freshScene } from '../../support/scene/scene.ts'
import { freshClient } from '../../support/scene/send.ts'

const SHOP = 'https://shop.example'
const FORM = `/app/vitals/links?site=${encodeURIComponent(SHOP)}`
const WRONG = 'A'.repeat(43)

/** Whatever the server logs. */
const lines: unknown[] = []
const keep = (...line: unknown[]) => void lines.push(line)
const log = { ...silentLog, request: keep, error: keep, warn: keep, info: keep }

const app = freshScene({ log }, async () => {
  lines.length = 0
  await updatePlan(app.services.db, (await ada.row()).id, 'pro').run()
  await ada.submit('/app/sites', { name: SHOP })
})
const ada = app.user('ada')
const eve = app.user('eve')

interface Made {
  /** The path of the shared page. */
  readonly path: string
  readonly id: string
  /** The page of the owner on which the link is shown. */
  readonly shown: string
}

/** Makes a link as a browser does, and reads it from the page. */
async function makeLink(days = '7'): Promise<Made> {
  const made = await ada.submit(FORM, { days, formId: crypto.randomUUID() })
  assert.equal(made.status, 303, made.html)
  const to = made.location ?? ''
  const cookie = withCookiesOf(made, await ada.enter())
  const { html } = await visitPage(app, to.replace(/#.*/, ''), { cookie })
  const [path = assert.fail(html)] = /\/shared\/[\w-]{43}/.exec(html) ?? []
  return { path, id: new URL(to, SHOP).searchParams.get('created') ?? '', shown: html }
}

/** A page as anybody gets it. */
const read = (path: string, from = freshClient()) => visitPage(app, path, { from })

/** Without what differs from request to request. */
const sameFor = ({ status, html }: Page) => [status, html.replace(/Request ID: [\w-]+/, '')]

async function send(body: object, origin = SHOP): Promise<void> {
  const headers = { origin, 'user-agent': 'Mozilla/5.0' }
  assert.equal((await app.send('POST', '/v1/telemetry/rum', { headers, body })).status, 204)
}

const ERROR = { message: 'secret of Ada', source: `${SHOP}/app.js`, stack: 'at private (x.js:1)' }

describe('a link to vitals', () => {
  it('shows the vitals of its site without signing in, and nothing else of the account', async () => {
    await ada.submit('/app/sites', { name: 'https://other.example' })
    const visitor = { path: '/cart', deviceType: 'mobile', metrics: { lcp: 4_000, cls: 0 } }
    await send({ ...visitor, errors: [ERROR] })
    const { path } = await makeLink()
    const { status, html } = await read(path)
    assert.equal(status, 200)
    assert.match(html, /<h1>Web vitals of shop\.example<\/h1>/)
    assert.match(html, />1 view</)
    assert.match(html, />\/cart</)
    for (const hidden of [
      /ada@/,
      /other\.example/,
      /secret of Ada|private|Page errors/,
      /\/app[/"]/,
      /Data health|Download|curl|X-API-Key|rum\.js/,
      /id="share"|method="post"/,
      /<select[^>]*name="site"/,
    ]) {
      assert.doesNotMatch(html, hidden)
    }
  })

  it('has the filters of the page, for its own site only', async () => {
    await eve.submit('/app/sites', { name: 'https://eve.example' })
    await send({ path: '/eve', deviceType: 'mobile', metrics: { lcp: 1 } }, 'https://eve.example')
    await send({ path: '/cart', deviceType: 'mobile', metrics: { lcp: 4_000 } })
    await send({ path: '/', deviceType: 'desktop', metrics: { lcp: 1_000 } })
    const { path } = await makeLink()
    const { html } = await read(`${path}?device=desktop&period=28d&site=https://eve.example`)
    assert.match(html, />1 view</)
    assert.doesNotMatch(html, /eve/)
    assert.match(html, new RegExp(`<form class="filters" method="get" action="${path}">`))
    assert.match(html, new RegExp(`href="${path}\\?period=28d&amp;device=mobile"`))
    const cart = await read(`${path}?device=mobile&path=/cart`)
    assert.match(cart.html, /Core Web Vitals of \/cart/)
    assert.match((await read(`${path}?device=tablet`)).html, /Show all pages, devices/)
    assert.match((await read(path)).html, /Times and days are in UTC\./)
    const wrong = await read(`${path}?period=custom&from=2026-01-20&to=2026-01-10`)
    assert.equal(wrong.status, 400)
    assert.match(wrong.html, /Choose a day after the first one/)
  })

  it('says no more than that there were no views, if there were none', async () => {
    const { path } = await makeLink()
    const { html } = await read(path)
    assert.match(html, /No views in this period/)
    assert.doesNotMatch(html, /rum\.js| bots|\/app\/sites/)
  })

  it('is kept from search engines, caches and the pages that it links to, as is its 404', async () => {
    const { path } = await makeLink()
    for (const page of [await read(path), await read(`/shared/${WRONG}`)]) {
      assert.equal(page.headers.get('x-robots-tag'), 'noindex')
      assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
      assert.equal(page.headers.get('cache-control'), 'no-store')
      assert.equal(page.headers.get('set-cookie'), null)
    }
    assert.match((await read(path)).html, /<meta name="robots" content="noindex"\/>/)
  })

  it('answers the same 404 to a wrong, a revoked and an expired token', async () => {
    const answer = await read(`/shared/${WRONG}`)
    assert.match(answer.html, /This link does not work/)
    const wrong = sameFor(answer)
    assert.equal(wrong[0], 404)
    assert.deepEqual(sameFor(await read('/shared/short')), wrong)
    const [first, second] = [await makeLink('7'), await makeLink('30')]
    const revoked = await ada.submit(`/app/vitals/links/${first.id}/revoke${FORM.slice(17)}`)
    assert.match(revoked.location ?? '', /done=revoked/)
    assert.deepEqual(sameFor(await read(first.path)), wrong)
    app.pass(30 * DAY_MS - 1)
    assert.equal((await read(second.path)).status, 200)
    app.pass(1)
    assert.deepEqual(sameFor(await read(second.path)), wrong)
  })

  it('ends with its site, and while the account is disabled', async () => {
    const { path } = await makeLink()
    await write(app, 'UPDATE users SET disabled_at = 1')
    assert.equal((await read(path)).status, 404)
    await write(app, 'UPDATE users SET disabled_at = NULL')
    assert.equal((await read(path)).status, 200)
    await write(app, 'DELETE FROM sites')
    assert.equal((await read(path)).status, 404)
    assert.equal(await readValue(app, 'SELECT count(*) FROM site_links'), 0)
  })

  it('is limited for each visitor, right or wrong', async () => {
    const { path } = await makeLink()
    const from = freshClient()
    for (let n = 0; n < 59; n++) assert.equal((await read(`/shared/${WRONG}`, from)).status, 404)
    assert.equal((await read(path, from)).status, 200)
    assert.equal((await read(path, from)).status, 429)
    assert.equal((await read(`/shared/${WRONG}`, from)).status, 429)
    assert.equal((await read(path)).status, 200, 'others are served')
  })

  it('is limited for all readers together, which takes nothing from its owner', async () => {
    const { path, id } = await makeLink()
    const { limits, now } = app.services
    while (limits.dashboard.take(id, now()).allowed);
    assert.equal((await read(path)).status, 429)
    assert.equal((await ada.visit('/app/vitals')).status, 200)
  })

  it('answers only GET', async () => {
    const { path } = await makeLink()
    const posted = await visitPage(app, path, { form: {} })
    assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD, OPTIONS'])
  })

  it('has a token that is neither stored nor logged', async () => {
    const { path } = await makeLink()
    const token = path.slice('/shared/'.length)
    await read(`${path}?path=/x`)
    await read(`${path}/`)
    const tables = ['site_links', 'audit_log', 'kept_answers']
    const rows = await Promise.all(tables.map((name) => readRows(app, `SELECT * FROM ${name}`)))
    assert.ok(rows.every((found) => found.length > 0))
    assert.equal(JSON.stringify(rows).includes(token), false)
    assert.match(JSON.stringify(lines), /"\/shared\/:token"/)
    assert.equal(JSON.stringify(lines).includes(token), false)
  })
})

describe('making and revoking links', () => {
  it('takes 7, 30 or 90 days, and nothing else', async () => {
    for (const days of ['0', '365', '', 'never']) {
      const refused = await ada.submit(FORM, { days })
      assert.equal(refused.status, 400)
      assert.match(refused.html, /Must be one of 7, 30, 90/)
    }
    await makeLink('90')
    const life = await readValue(app, 'SELECT expires_at - created_at FROM site_links')
    assert.equal(Number(life), 90 * DAY_MS)
  })

  it('allows five links to a site, and again one more once one has expired', async () => {
    for (let n = 0; n < 5; n++) await makeLink()
    const refused = await ada.submit(FORM, { days: '7' })
    assert.equal(refused.status, 403)
    assert.match(refused.html, /has 5 links already/)
    assert.match((await ada.visit('/app/vitals')).html, /A site has at most 5 links/)
    app.pass(7 * DAY_MS - 1)
    assert.equal((await ada.submit(FORM, { days: '7' })).status, 403)
    app.pass(1)
    await makeLink()
  })

  it('shows the link for ten minutes, and not once it is revoked', async () => {
    const { id, shown } = await makeLink()
    assert.match(shown, /<details open=""><summary><h2 id="share">/)
    const form = { days: '7', formId: crypto.randomUUID() }
    const first = await ada.submit(FORM, form)
    assert.deepEqual((await ada.submit(FORM, form)).location, first.location, 'a copy makes none')
    assert.equal(Number(await readValue(app, 'SELECT count(*) FROM site_links')), 2)
    const newest = new URL(first.location ?? '', SHOP).searchParams.get('created')
    await ada.submit(`/app/vitals/links/${newest}/revoke${FORM.slice(17)}`)
    assert.equal((await ada.submit(FORM, form)).status, 422)
    const later = await ada.visit(`/app/vitals?created=${id}`)
    assert.doesNotMatch(later.html, /\/shared\//, 'a browser without the cookie')
  })

  it('writes audit rows', async () => {
    const { id } = await makeLink('30')
    await ada.submit(`/app/vitals/links/${id}/revoke${FORM.slice(17)}`)
    const find = async (name: string) => (await ada.audit()).filter(({ action }) => action === name)
    const [made] = await find('create_link')
    const [revoked] = await find('revoke_link')
    assert.deepEqual([made?.action, made?.detail], ['create_link', `${SHOP}, for 30 days`])
    assert.deepEqual([revoked?.action, revoked?.detail], ['revoke_link', SHOP])
    assert.equal(made?.target_type, 'site')
    const again = await ada.submit(`/app/vitals/links/${id}/revoke${FORM.slice(17)}`)
    assert.equal(again.status, 404)
    assert.equal((await find('revoke_link')).length, 1, 'what changes nothing is not logged')
  })

  it('is for the owner alone', async () => {
    const { id, path } = await makeLink()
    await eve.submit('/app/sites', { name: 'https://eve.example' })
    const own = `?site=${encodeURIComponent('https://eve.example')}`
    assert.equal((await eve.submit(FORM, { days: '7' })).status, 404)
    assert.equal((await eve.submit(`/app/vitals/links/${id}/revoke${own}`)).status, 404)
    assert.equal((await eve.submit(`/app/vitals/links/${id}/revoke${FORM.slice(17)}`)).status, 404)
    assert.doesNotMatch((await eve.visit(`/app/vitals?created=${id}`)).html, /\/shared\//)
    assert.equal((await read(path)).status, 200)
    const stranger = await visitPage(app, FORM, { form: { days: '7' } })
    assert.match(stranger.location ?? stranger.html, /sign-in|Sign in/)
    assert.deepEqual(await readColumn(app, 'SELECT id FROM site_links'), [id])
  })

  it('is limited to thirty links at once', async () => {
    for (let n = 0; n < 30; n++) {
      const { id } = await makeLink()
      await ada.submit(`/app/vitals/links/${id}/revoke${FORM.slice(17)}`)
    }
    assert.equal((await ada.submit(FORM, { days: '7' })).status, 429)
  })
})
