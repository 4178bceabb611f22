import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { updatePlan } from '../../lib/accounts/users.ts'
import { byVital } from '../../lib/contract/telemetry/metrics.ts'
import { HOUR_MS } from '../../lib/parts/durations.ts'
import { judge, percent, rate, valueText } from '../../pages/dashboard/vitals/rating.ts'
import { makeApp, NOON } from '../support/helpers.ts'
import { leaveCalls } from '../support/scene/pages.ts'
import { freshScene } from '../support/scene/scene.ts'

const SHOP = 'https://shop.example'

const app = freshScene({}, async () => {
  await updatePlan(app.services.db, (await ada.row()).id, 'pro').run()
  await ada.submit('/app/sites', { name: SHOP })
})
const ada = app.user('ada')

/** The page of web vitals, as HTML. */
async function page(query = ''): Promise<string> {
  return (await ada.visit(`/app/vitals${query}`)).html
}

async function send(body: object): Promise<void> {
  const headers = { origin: SHOP, 'user-agent': 'Mozilla/5.0' }
  assert.equal((await app.send('POST', '/v1/telemetry/rum', { headers, body })).status, 204)
}

/** The page from one heading to the end of its section. */
function section(html: string, id: string): string {
  const from = html.indexOf(`id="${id}"`)
  assert.notEqual(from, -1, `There is no ${id}`)
  return html.slice(from, html.indexOf('</section></', from) + 1 || undefined)
}

describe('the verdict on Core Web Vitals', () => {
  const p75 = { ...byVital(() => 9_000), lcp: 2_500, inp: 200, cls: 0.1 }

  it('is passed if LCP, INP and CLS are at or below their thresholds', () => {
    assert.equal(judge(p75), 'passed')
    assert.equal(judge({ ...p75, lcp: 2_500.01 }), 'failed')
    assert.equal(judge({ ...p75, inp: 200.01 }), 'failed')
    assert.equal(judge({ ...p75, cls: 0.10001 }), 'failed')
  })

  it('does not need INP, but is unknown without LCP or CLS', () => {
    assert.equal(judge({ ...p75, inp: null }), 'passed')
    assert.equal(judge({ ...p75, lcp: null }), 'unknown')
    assert.equal(judge({ ...p75, cls: null }), 'unknown')
    assert.equal(judge({ ...p75, cls: null, lcp: 3_000 }), 'failed')
  })

  it('rates values by the thresholds, and shows them with their unit', () => {
    const rates = [2_500, 2_501, 4_000, 4_001].map((value) => rate('lcp', value))
    assert.deepEqual(rates, ['good', 'needs-improvement', 'needs-improvement', 'poor'])
    assert.deepEqual([valueText('lcp', 1840.4), valueText('cls', 0.0214)], ['1,840 ms', '0.021'])
    const percents = [0, 0.004, 0.0001, 0.126, 1].map(percent)
    assert.deepEqual(percents, ['0 %', '0.4 %', '0.1 %', '13 %', '100 %'])
  })
})

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
    assert.match(section(html, 'health'), /<dd>Never<\/dd>/)
    assert.match(await page('?device=tablet'), /No views from this device and country/)
  })

  it('shows p75, its rating as a word, the shares, and that samples are few', async () => {
    const visitor = { deviceType: 'mobile', connectionType: '4g' }
    for (const lcp of [1_000, 2_000, 3_000, 9_000])
      await send({ ...visitor, metrics: { lcp, cls: 0, dns: 12 } })
    const html = await page()
    assert.match(html, /<strong>4 views<\/strong>/)
    assert.match(html, /Few samples/)
    const lcp = section(html, 'lcp')
    assert.match(lcp, /6,000 ms <small>Poor<\/small>/)
    const shares = lcp.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
    assert.match(shares, /Good 50 % Needs improvement 25 % Poor 25 %/)
    assert.match(lcp, /No earlier data/)
    assert.match(section(html, 'inp'), /No values/)
    assert.doesNotMatch(html, /id="fid"/)
    assert.match(section(html, 'verdict'), /Mobile <span class="badge error">Failed/)
    assert.match(section(html, 'connections'), /4g<\/th><td[^>]*>4<\/td><td[^>]*>100 %/)
    assert.match(section(html, 'navigation'), /DNS lookup<\/dt><dd><span class="phase">12 ms/)
  })

  it('shows FID if a page still sends it', async () => {
    await send({ metrics: { fid: 12 } })
    const html = await page()
    assert.match(section(html, 'legacy-fid'), /Legacy/)
    const ids = [...html.matchAll(/<h2 id="([\w-]+)"/g)].map(([, id]) => id)
    assert.equal(ids.at(-2), 'legacy-fid', 'after all other sections, with its card')
  })

  it('compares with the previous period from 300 values on', async () => {
    app.setClock(NOON - 30 * HOUR_MS)
    const sendAll = (times: number, metrics: object) =>
      Promise.all(Array.from({ length: times }, () => send({ metrics })))
    await sendAll(299, { lcp: 2_000, cls: 0.1, ttfb: 100 })
    await send({ metrics: { lcp: 2_000, cls: 0.1 } })
    app.setClock(NOON)
    await sendAll(299, { lcp: 1_000, cls: 0.2, ttfb: 100 })
    const few = await page('?period=24h')
    assert.match(section(few, 'lcp'), /Not compared: fewer than 300 values</)
    assert.doesNotMatch(few, /% better|% worse/)
    await send({ metrics: { lcp: 1_000, cls: 0.2, ttfb: 100 } })
    const html = await page('?period=24h')
    assert.match(section(html, 'lcp'), /50 % better <span class="soft">than 2,000 ms before/)
    assert.match(section(html, 'cls'), /100 % worse <span class="soft">than 0\.1 before/)
    assert.match(section(html, 'ttfb'), /Not compared: fewer than 300 values in the period before/)
  })

  it('says so if the comparison could not be made', async () => {
    await send({ metrics: { lcp: 1_000 } })
    // For the profile, the sites and the period itself.
    await leaveCalls(app, 3)
    const html = await page('?period=24h')
    assert.match(html, /<strong>1 view<\/strong>/)
    assert.match(html, /Could not compare with the period before: Too many requests/)
    assert.doesNotMatch(html, /No earlier data/)
  })

  it('says so if the data of the period before is deleted', async () => {
    await send({ metrics: { lcp: 1_000 } })
    const html = await page('?period=90d')
    assert.match(html, /Not compared with the period before: its data is deleted/)
    assert.doesNotMatch(html, /No earlier data/)
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
    assert.match(html, /07:00<\/th><td>1,500 ms<\/td>/)
    assert.ok(html.includes(`data-point="${times[0]}    0"`), 'no CLS in the first hour')
    assert.match(await page('?period=28d'), /LCP by day as a table/)
  })

  it('hides parts with less than 0.5 % of the views until they are opened', async () => {
    for (let n = 0; n < 201; n++) await send({ path: '/', metrics: { ttfb: 9 } })
    await send({ path: '/rare', metrics: { ttfb: 9 } })
    const paths = section(await page(), 'paths')
    const [shown = '', hidden = ''] = paths.split('<details>')
    assert.doesNotMatch(shown, /\/rare/)
    assert.match(hidden, /1 more, each under 0\.5 %.*\/rare/)
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
    assert.ok(section(html, 'paths').includes('/&lt;img src=x onerror=alert(1)&gt;'))
    assert.ok(html.includes(long.slice(0, 200)), 'the stored beginning of the long text')
    const shown = section(html, 'errors')
    assert.equal(shown.split('&lt;img').length - 1, 5, 'message, type, source, path, stack')
    assert.match(shown, /:3:7<\/dd>/)
    assert.match(shown, /2026-01-15 12:00/)
  })

  it('says which parts ignore the filters by device and country', async () => {
    await send({ path: '/', deviceType: 'mobile', metrics: { lcp: 1 } })
    assert.doesNotMatch(await page(), /For all devices and countries/)
    assert.match(section(await page('?device=mobile'), 'paths'), /For all devices and countries/)
  })

  it('accepts custom dates, and says what is wrong with invalid ones', async () => {
    await send({ metrics: { lcp: 1 } })
    const custom = (from: string, to: string) =>
      ada.visit(`/app/vitals?${new URLSearchParams({ period: 'custom', from, to })}`)
    const { html } = await custom('2026-01-14', '2026-01-15')
    assert.match(html, /2026-01-14 00:00 to 2026-01-15 23:59 UTC/)
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
