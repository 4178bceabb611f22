import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HOUR_MS } from '../../../lib/parts/durations.ts'
import { NOON } from '../../support/helpers.ts'
import { leaveCalls } from '../../support/scene/pages.ts'
import { section, shopScene } from './shop.ts'

const { app, page, send, sendAll } = shopScene()

describe('the figures of the web vitals page', () => {
  it('names the site, and begins with the figures', async () => {
    await send({ deviceType: 'mobile', metrics: { lcp: 1_000, inp: 80, cls: 0 } })
    const html = await page()
    assert.match(html, /<h1>Web vitals of shop\.example<\/h1>/)
    const [head = '', report = ''] = html.split('<div id="report">')
    assert.match(head, /<div class="page-head">.*<form class="filters"/)
    const parts = ['aria-label="Devices"', 'id="lcp"', 'id="cls"', 'id="verdict"', '1 view<']
    const places = parts.map((part) => report.indexOf(part))
    assert.ok(!places.includes(-1))
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    )
    assert.doesNotMatch(report.slice(0, places[1]), /<p\b/)
    assert.match(section(html, 'countries'), /Values are rated from 300 views on/)
    const [, method = ''] = section(html, 'verdict').split('<details>')
    assert.match(method, /How this is measured.*75th percentiles.*20 most viewed/)
  })

  it('compares with the previous period from 300 values on', async () => {
    app.setClock(NOON - 30 * HOUR_MS)
    await sendAll(299, { metrics: { lcp: 2_000, cls: 0.1, inp: 100 } })
    await send({ metrics: { lcp: 2_000, cls: 0.1 } })
    app.setClock(NOON)
    await sendAll(299, { metrics: { lcp: 1_000, cls: 0.2, inp: 100 } })
    const few = await page('?period=24h')
    assert.match(few, /Not compared with the period before: that takes 300 values in each/)
    assert.doesNotMatch(few, /% better|% worse/)
    await send({ metrics: { lcp: 1_000, cls: 0.2, inp: 100 } })
    const html = await page('?period=24h')
    assert.match(
      section(html, 'lcp'),
      /50% better<\/span> <span class="soft">than 2\.0\u00a0s before/,
    )
    assert.match(section(html, 'cls'), /100% worse<\/span> <span class="soft">than 0\.10 before/)
    const [inp = ''] = section(html, 'inp').split('id="cls"')
    assert.doesNotMatch(inp, /better|worse/)
    assert.match(html, />[^<]*INP not compared with the period before: that takes 300 values/)
  })

  it('shows a change that is too small to matter without a colour', async () => {
    app.setClock(NOON - 30 * HOUR_MS)
    await sendAll(300, { metrics: { lcp: 2_000, cls: 0.1 } })
    app.setClock(NOON)
    await sendAll(300, { metrics: { lcp: 2_090, cls: 0.1 } })
    const html = await page('?period=24h&device=all')
    assert.match(section(html, 'lcp'), />About the same as before: 2\.0\u00a0s</)
    assert.doesNotMatch(html, /% worse/)
  })

  it('says so if the comparison could not be made', async () => {
    await send({ metrics: { lcp: 1_000 } })
    // For the profile, the sites and the period itself.
    await leaveCalls(app, 3)
    const html = await page('?period=24h&device=all')
    assert.match(html, /<strong>1 view<\/strong>/)
    const [, shown = ''] = section(html, 'verdict').split('<details open="">')
    assert.match(shown, /Could not compare with the period before: Too many requests/)
    assert.doesNotMatch(html, /that takes 300 values/)
  })

  it('says so if the data of the period before is deleted', async () => {
    await send({ metrics: { lcp: 1_000 } })
    const html = await page('?period=90d')
    assert.match(html, /Not compared with the period before: data is kept for 92 days/)
    assert.doesNotMatch(html, /that takes 300 values/)
  })
})
