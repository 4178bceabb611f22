import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { updatePlan } from '../../lib/accounts/users.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { write } from '../support/database/sql.ts'
import { NOON } from '../support/helpers.ts'
import { freshScene } from '../support/scene/scene.ts'

const app = freshScene({}, async () => {
  await updatePlan(app.services.db, (await ada.row()).id, 'pro').run()
  await ada.submit('/app/keys', { name: 'Shop', access: 'look-ups' })
})
const ada = app.user('ada')

interface Added {
  readonly status?: number
  readonly requests: number
  /** Days before today. */
  readonly ago: number
}

async function add({ status = 200, requests, ago }: Added): Promise<void> {
  await write(
    app,
    `INSERT INTO usage_by_operation SELECT ?, id, '', 'locateAddress', ?, ?, 0, 0 FROM users WHERE email = 'ada@example.com'`,
    Math.floor(NOON / DAY_MS) - ago,
    status,
    requests,
  )
}

async function measure(site: string, lcp: number): Promise<void> {
  await ada.submit('/app/sites', { name: site })
  const headers = { origin: site, 'user-agent': 'Mozilla/5.0' }
  const body = { metrics: { lcp }, errors: [{ message: `broken at ${lcp}` }] }
  assert.equal((await app.send('POST', '/v1/telemetry/rum', { headers, body })).status, 204)
}

/** What is read on the page. */
async function textOf(path: string): Promise<string> {
  const { html } = await ada.visit(path)
  return html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
}

describe('the overview', () => {
  it('says how many requests the cap allows, and when the period ends', async () => {
    const text = await textOf('/app')
    assert.match(text, /Requests this period 0 of 100,000, resets on 1 Feb .* days are in UTC\./)
  })

  it('compares the days of its chart with as many before', async () => {
    await add({ requests: 30, ago: 0 })
    await add({ requests: 20, ago: 7 })
    await add({ requests: 100, ago: 20 })
    const week = await textOf('/app?days=7')
    assert.match(week, /30 requests in the last 7 days, 50% more than in the 7 days before\./)
    assert.match(await textOf('/app'), /150 requests in the last 30 days\./)
    await add({ requests: 150, ago: 30 })
    assert.match(await textOf('/app'), /150 requests in the last 30 days, about as many as in the/)
    await add({ requests: 150, ago: 31 })
    assert.match(await textOf('/app'), /150 requests in the last 30 days, 50% fewer than/)
  })

  it('lists the newest errors of requests, without unknown addresses', async () => {
    await add({ requests: 3, status: 429, ago: 2 })
    await add({ requests: 4, status: 403, ago: 1 })
    await add({ requests: 9, status: 404, ago: 0 })
    const text = await textOf('/app')
    assert.match(
      text,
      /14 Jan GET \/v1\/ip\/\{ipAddress\} 403 4 13 Jan GET \/v1\/ip\/\{ipAddress\} 429 3 /,
    )
    assert.doesNotMatch(text, / 404 9 /)
  })

  it('names the slowest site, and the errors of all pages', async () => {
    assert.match(await textOf('/app'), /Your pages Measure how fast .* Add a site/)
    await measure('https://shop.example', 2_000)
    await measure('https://blog.example', 3_000)
    const text = await textOf('/app')
    assert.match(text, /Slowest site 3\.0 s LCP .* blog\.example/)
    assert.match(text, /broken at 3000 .* broken at 2000|broken at 2000 .* broken at 3000/)
  })

  it('names the key that expires next, within a month', async () => {
    const expireIn = (days: number) =>
      write(app, 'UPDATE api_keys SET expires_at = ?', NOON + days * DAY_MS)
    const briefCards = async () =>
      (await ada.visit('/app')).html.match(/<section class="card brief"/g)?.length ?? 0
    await expireIn(31)
    assert.doesNotMatch(await textOf('/app'), /expires on/)
    assert.equal(await briefCards(), 2)
    await expireIn(10)
    assert.equal(await briefCards(), 0, 'a sentence takes the whole width')
    assert.match(await textOf('/app'), /Active keys 1 Shop expires on 25 Jan Manage keys/)
  })

  it('names no key that another one has replaced', async () => {
    const { html } = await ada.visit('/app/keys')
    const [path = ''] = /\/app\/keys\/[0-9a-f]{32}\/rotate/.exec(html) ?? []
    assert.equal((await ada.submit(path, { grace: '3600' })).status, 303)
    assert.doesNotMatch(await textOf('/app'), /expires on/)
  })

  it('leads a newcomer to a first key, and draws no chart of nothing', async () => {
    const eve = app.user('eve')
    const { html } = await eve.visit('/app')
    assert.match(html, /Create your first key/)
    assert.match(html, /<button type="submit" class="button">Create a key/)
    assert.doesNotMatch(html, /class="plot"/)
  })
})
