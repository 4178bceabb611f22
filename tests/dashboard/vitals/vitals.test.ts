import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { updatePlan } from '../../../lib/accounts/users.ts'
import { DAY_MS, HOUR_MS } from '../../../lib/parts/durations.ts'
import { makeApp, NOON } from '../../support/helpers.ts'
import { SHOP, section, shopScene, textOf } from './shop.ts'

const { app, ada, page, send, sendAll } = shopScene()

describe('the web vitals page', () => {
  it('asks a user without sites to add one', async () => {
    await using app = await makeApp()
    const ada = app.user('ada')
    const { html } = await ada.visit('/app/vitals')
    assert.match(html, /Add a site first/)
  })

  it('shows the snippet if nothing was measured', async () => {
    const html = await page()
    assert.match(html, /Nothing was measured/)
    assert.match(html, /\/rum\.js&quot;/)
    assert.doesNotMatch(html, /of bots/)
    const filtered = await page('?device=tablet')
    assert.match(filtered, /No views from this page, device and country/)
    assert.match(
      filtered,
      /href="\/app\/vitals\?site=https%3A%2F%2Fshop\.example&amp;period=7d">Show all/,
    )
  })

  it('says that visits of bots did not count if nothing else was measured', async () => {
    const agent = 'Mozilla/5.0 (X11) HeadlessChrome/140.0'
    const headers = { origin: SHOP, 'user-agent': agent }
    await app.send('POST', '/v1/telemetry/rum', { headers, body: { metrics: { lcp: 1 } } })
    const empty = section(await page(), 'empty')
    assert.match(empty, /1 visit of bots and automated browsers did not count/)
  })

  it('says how many views are missing for a verdict, and rates nothing before', async () => {
    const visitor = { path: '/', deviceType: 'mobile', connectionType: '4g' }
    for (const lcp of [1_000, 2_000, 3_000, 9_000])
      await send({ ...visitor, metrics: { lcp, cls: 0, dns: 12 } })
    const html = await page()
    assert.match(html, /<strong>4 views<\/strong>/)
    assert.match(textOf(section(html, 'verdict')), /No verdict yet.* 296 views are missing/)
    const lcp = textOf(section(html, 'lcp'))
    assert.match(lcp, /6\.0 s Good up to 2\.5 s , poor above 4\.0 s 50% of 4 values are good/)
    assert.equal(html.split('compared with').length, 2, 'said once')
    assert.match(html, /Not compared with the period before: that takes 300 values in each\./)
    assert.match(section(html, 'inp'), /No values/)
    const [, key = ''] = /<figcaption[^>]*>(.*?)<\/figcaption>/s.exec(html) ?? []
    assert.match(textOf(key), /Good up to 2\.5 s Needs improvement up to 4\.0 s Poor/)
    assert.doesNotMatch(html.replace(key, ''), /class="rated/)
    assert.match(textOf(section(html, 'pages')), / \/ 4 6\.0 s – 0\.00 /)
    assert.match(textOf(html), / Fast \(like 4G or better\) 4 100%/)
    assert.match(textOf(section(html, 'times')), /DNS lookup 12 ms, 4 values/)
    assert.doesNotMatch(html, /First Input Delay/)
    await send({ metrics: { fid: 12 } })
    assert.match(textOf(await page('?device=all')), /First Input Delay \(legacy\) 12 ms, 1 value/)
  })

  it('begins with the device that fails, and says by how much and on which page', async () => {
    await sendAll(300, { deviceType: 'desktop', path: '/', metrics: { lcp: 900, inp: 80, cls: 0 } })
    await sendAll(301, { deviceType: 'mobile', path: '/cart', metrics: { lcp: 4_200, cls: 0 } })
    const html = await page()
    const verdict = textOf(section(html, 'verdict'))
    assert.match(verdict, /Failed Metric Value Worst page LCP 4\.2 s Poor \/cart 4\.2 s Poor /)
    assert.match(textOf(section(html, 'lcp')), /4\.2 s Poor/)
    assert.match(textOf(html), /Mobile Failed Desktop Passed All devices/)
    assert.match(html, /device=mobile" aria-current="page"/)
    assert.match(html, />301 views</)
    const desktop = await page('?device=desktop')
    assert.match(textOf(section(desktop, 'verdict')), /Passed On desktops, all of them are good/)
    assert.match(desktop, />300 views</)
    const all = textOf(section(await page('?device=all'), 'verdict'))
    assert.match(all, /Failed .* LCP 4\.2 s Poor \/cart 4\.2 s Poor /)
    const one = textOf(section(await page('?device=mobile&path=/cart'), 'verdict'))
    assert.match(one, / LCP 4\.2 s Poor 301 views/)
    assert.doesNotMatch(one, /Worst page/)
  })

  it('shows one page, with a chip to show all again', async () => {
    await send({ path: '/cart', deviceType: 'mobile', metrics: { lcp: 4_200 } })
    await send({ path: '/', metrics: { lcp: 900 } })
    const html = await page('?device=mobile')
    assert.match(section(html, 'pages'), /href="[^"]*device=mobile&amp;path=%2Fcart">\/cart</)
    const one = await page('?device=mobile&path=/cart')
    assert.match(one, />1 view</)
    assert.match(one, /class="chips"[^>]*><li><a href="[^"]*period=7d&amp;device=mobile">/)
    assert.match(textOf(section(one, 'lcp')), /4\.2 s/)
    assert.match(one, /device=desktop&amp;path=%2Fcart"[^>]*>Desktop/)
    assert.match(section(one, 'countries'), /Pages are not counted by country/)
    assert.match(one, /<input type="hidden" name="path" value="\/cart"/)
    const both = await page('?country=GB&path=/cart')
    assert.match(both, /Country<\/span> United Kingdom/)
    assert.doesNotMatch(both, /Page<\/span>/)
  })

  it('sorts pages by any column, the worst first', async () => {
    await send({ path: '/a', metrics: { lcp: 1_000, cls: 0.2 } })
    await sendAll(2, { path: '/b', metrics: { lcp: 3_000, cls: 0 } })
    const order = async (query: string) => {
      const pages = section(await page(query), 'pages')
      return [...pages.matchAll(/>(\/[ab])</g)].map(([, path]) => path)
    }
    assert.deepEqual(await order(''), ['/b', '/a'])
    assert.deepEqual(await order('?sort=cls'), ['/a', '/b'])
    assert.deepEqual(await order('?sort=lcp'), ['/b', '/a'])
    assert.match(await page('?sort=cls'), /aria-sort="descending"><a [^>]*>CLS</)
  })

  it('lists countries by name', async () => {
    const names = [...(await page()).matchAll(/<option value="[A-Z]{2}">([^<]*)/g)]
    const listed = names.map(([, name = '']) => name)
    assert.ok(listed.length > 200)
    assert.deepEqual(
      listed,
      listed.toSorted((a, b) => a.localeCompare(b, 'en')),
    )
  })

  it('needs no requests of the plan', async () => {
    await updatePlan(app.services.db, (await ada.row()).id, 'free').run()
    for (let n = 0; n < 20; n++) assert.match(await page(), /Nothing was measured/)
  })

  it('lists only hours with values in the table of a chart', async () => {
    app.setClock(NOON - 5 * HOUR_MS)
    await send({ metrics: { lcp: 1_500 } })
    app.setClock(NOON)
    await send({ metrics: { lcp: 2_000, cls: 0.02 } })
    const html = await page('?period=24h')
    const times = [NOON - 5 * HOUR_MS, NOON].map((time) => time / 1000)
    assert.deepEqual(html.match(/data-point="[^"]*"/g)?.slice(0, 2), [
      `data-point="${times[0]} 1500 1500 1500 1"`,
      `data-point="${times[1]} 2000 2000 2000 1"`,
    ])
    assert.match(html, /15 Jan, 07:00<\/time><\/th><td class="number">1\.5\u00a0s<\/td>/)
    const cls = await page('?period=24h&metric=cls')
    assert.ok(cls.includes(`data-point="${times[0]}    0"`), 'no CLS in the first hour')
    assert.match(await page('?period=7d'), /LCP by day as a table/)
  })

  it('shows six pages until more are opened', async () => {
    for (let n = 1; n <= 8; n++) await send({ path: `/${'p'.repeat(n)}`, metrics: { ttfb: 9 } })
    const [shown = '', hidden = ''] = section(await page(), 'pages').split('<details>')
    assert.equal(shown.split('/ppp').length > 1, true)
    assert.match(hidden, /Show 2 more.*\/pppppppp</)
  })

  it('escapes markup in paths and errors, however long', async () => {
    const markup = '<img src=x onerror=alert(1)>'
    const long = `/${'a-very-long-path'.repeat(20)}`
    await send({ path: long, metrics: { lcp: 1 } })
    const error = { message: markup, type: markup, stack: markup, line: 3, column: 7 }
    const errors = [{ ...error, source: `https://x.example/${markup}` }]
    await send({ path: `/${markup}`, metrics: { lcp: 1 }, errors })
    const html = await page()
    assert.doesNotMatch(html, /<img src=x/)
    assert.ok(section(html, 'pages').includes('/&lt;img src=x onerror=alert(1)&gt;'))
    assert.ok(html.includes(long.slice(0, 200)), 'the stored beginning of the long text')
    const shown = section(html, 'errors')
    assert.equal(shown.split('&lt;img').length - 1, 5, 'message, type, source, path, stack')
    assert.match(shown, /:3:7<\/code><\/dd>/)
    assert.match(shown, />15 Jan, 12:00</)
  })

  it('says that the times and the count of an error are those of the period', async () => {
    const errors = [{ message: 'x is undefined' }]
    await send({ path: '/', metrics: { lcp: 1 }, errors })
    app.setClock(NOON + 3 * DAY_MS)
    await send({ path: '/cart', metrics: { lcp: 1 }, errors })
    const shown = async (query: string) => textOf(section(await page(query), 'errors'))
    assert.match(await shown('?period=7d'), /First seen in this period 15 Jan, /)
    assert.match(await shown('?period=24h'), /1 time .*\/cart .*First seen in this period 18 Jan, /)
  })

  it('says which parts ignore the filters', async () => {
    await send({ path: '/', deviceType: 'mobile', metrics: { lcp: 1 } })
    const notes = async (query: string) => {
      const html = await page(query)
      return ['errors', 'health'].map((id) => /For all [^<]*/.exec(section(html, id))?.[0])
    }
    assert.deepEqual(await notes('?device=all'), [undefined, undefined])
    assert.deepEqual(await notes('?device=mobile'), Array(2).fill('For all devices.'))
    const both = Array(2).fill('For all pages and devices.')
    assert.deepEqual(await notes('?device=mobile&path=/'), both)
    assert.match(section(await page('?country=GB'), 'empty'), /No views/)
  })

  it('names a kind of device that only a newer release knows', async () => {
    await send({ deviceType: 'tablet', metrics: { lcp: 1 } })
    await page()
    for (const table of ['rum_sketches', 'rum_days'])
      await app.services.db.execute({ sql: `UPDATE ${table} SET device = 'watch'`, params: [] })
    assert.match(section(await page('?device=all'), 'devices'), /watch/)
  })

  it('accepts custom dates, and says what is wrong with invalid ones', async () => {
    await send({ metrics: { lcp: 1 } })
    const custom = (from: string, to: string) =>
      ada.visit(`/app/vitals?${new URLSearchParams({ period: 'custom', from, to })}`)
    const { html } = await custom('2026-01-14', '2026-01-15')
    assert.match(
      html,
      /title="2026-01-14 00:00:00 UTC to 2026-01-15 23:59:59 UTC">14–15 Jan<.*>12:00 UTC</s,
    )
    for (const [from, to, message] of [
      ['', '', /id="from-problem" role="alert">Choose the first day/],
      ['2026-01-15', '', /id="to-problem" role="alert">Choose the last day/],
      ['2026-01-15', '2026-01-14', /id="to-problem" role="alert">Choose a day after the first/],
      ['2025-01-01', '2026-01-14', /id="from-problem" role="alert">Must be at most 92 days/],
    ] as const) {
      const { status, html } = await custom(from, to)
      assert.equal(status, 400)
      assert.match(html, message)
      assert.match(html, /<form class="filters"/)
    }
  })

  it('shows only sites of the user', async () => {
    const { status, html } = await ada.visit('/app/vitals?site=https://other.example')
    assert.equal(status, 404)
    assert.match(html, /role="alert">https:\/\/other\.example is not one of your sites/)
  })
})

describe('GET /app/vitals/export', () => {
  it('answers the same as the API call that the page shows', async () => {
    await send({ deviceType: 'mobile', metrics: { lcp: 1_234.5 } })
    const html = await page('?period=24h&device=mobile')
    const curl = /curl -H &quot;X-API-Key: \$KEY&quot; &quot;([^&]*(?:&amp;[^&]*)*)&quot;/
    const [, url = ''] = curl.exec(html) ?? []
    const { pathname, search } = new URL(url.replaceAll('&amp;', '&'))
    const key = await app.makeKey()
    const asked = await app.send('GET', `${pathname}${search}`, { key })
    const query = 'site=https://shop.example&period=24h&device=mobile'
    const json = await ada.visit(`/app/vitals/export?${query}&format=json`)
    assert.deepEqual(JSON.parse(json.html), asked.body)
    const disposition = json.headers.get('content-disposition') ?? ''
    assert.match(disposition, /attachment; filename="web-vitals\.json"/)
    const csv = await ada.visit(`/app/vitals/export?${query}&format=csv`)
    assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8')
    const [head, row] = csv.html.split('\n')
    assert.match(head ?? '', /^hour,country,deviceType,sampleCount,lcp_p50,lcp_p75,lcp_p95,inp_p50/)
    assert.match(row ?? '', /^2026-01-15T12,,mobile,1,1234\.5,1234\.5,1234\.5,,/)
  })
})
