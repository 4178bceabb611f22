import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readRows, write } from '../support/database/sql.ts'
import { NOON } from '../support/helpers.ts'
import { freshScene } from '../support/scene/scene.ts'
import { words } from '../support/words.ts'

let keys: { readonly id: string; readonly name: string }[]
const app = freshScene({}, async () => {
  for (const name of ['Shop', 'Blog']) await ada.visit('/app/keys', { form: { name } })
  const rows = await readRows<[string, string]>(app, 'SELECT id, name FROM api_keys')
  keys = rows.map(([id, name]) => ({ id, name }))
})

const ada = app.user('ada')

interface Added {
  readonly key?: string
  readonly operation?: string
  readonly status?: number
  readonly requests: number
  /** Days before today. */
  readonly ago?: number
}

async function add({
  key = 'Shop',
  operation = 'locateAddress',
  status = 200,
  requests,
  ago = 0,
}: Added) {
  const keyId = keys.find(({ name }) => name === key)?.id ?? key
  await write(
    app,
    `INSERT INTO usage_by_operation SELECT ?, id, ?, ?, ?, ?, 0, 0 FROM users WHERE email = 'ada@example.com'`,
    Math.floor(NOON / 86_400_000) - ago,
    keyId,
    operation,
    status,
    requests,
  )
}

/** The rows of a table by its label, as texts. */
function tableOf(html: string, label: string): string[][] {
  const table = new RegExp(`aria-label="Table of ${label}">([\\s\\S]*?)</table>`).exec(html)?.[1]
  return [...(table ?? '').matchAll(/<tr.*?<\/tr>/gs)].map(([row]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) =>
      cell.replaceAll(/<[^>]*>/g, '').trim(),
    ),
  )
}

describe('GET /app/usage', () => {
  it('shows requests by day, endpoint and key, with the share of errors', async () => {
    await add({ requests: 1_500 })
    await add({ requests: 300, status: 404 })
    await add({ requests: 190, status: 429 })
    await add({ requests: 10, status: 403, operation: 'listKeys' })
    await add({ requests: 7, key: 'Blog', ago: 1 })
    await add({ requests: 3, key: '' })
    await add({ requests: 1, key: 'f'.repeat(32), ago: 29 })
    await add({ requests: 1_000, ago: 30 })
    const { status, html } = await ada.visit('/app/usage')
    assert.equal(status, 200)
    assert.match(html, /2,011 requests in the last 30 days/)
    assert.match(html, /A batch is one request here/, 'the overview counts its addresses')
    const days = tableOf(html, 'requests per day')
    assert.deepEqual(days.slice(0, 3), [
      ['Day (UTC)', 'Answered', 'Not found', 'Over a limit', 'Refused', 'All'],
      ['15 Jan', '1,503', '300', '190', '10', '2,003'],
      ['14 Jan', '7', '0', '0', '0', '7'],
    ])
    assert.equal(days.length, 31)
    assert.deepEqual(tableOf(html, 'Endpoints'), [
      ['Endpoint', 'Requests', 'Errors', 'Share of errors', 'Over a limit'],
      ['GET /v1/ip/{ipAddress}', '2,001', '190', '9%', '190'],
      ['GET /v1/account/me/keys', '10', '10', '100%', '0'],
    ])
    const names = tableOf(html, 'Keys').map(([name = '', all]) => `${name.split(' ')[0]} ${all}`)
    assert.deepEqual(names.slice(1), ['Shop 2,000', 'Blog 7', 'Signed 3', 'Revoked 1'])
  })

  it('filters by key, endpoint and period, and keeps the choice in the form', async () => {
    await add({ requests: 5 })
    await add({ requests: 7, key: 'Blog' })
    await add({ requests: 9, key: 'Blog', operation: 'getTimezone' })
    await add({ requests: 11, key: 'Blog', ago: 60 })
    const blog = keys.find(({ name }) => name === 'Blog')?.id
    const of = async (query: string) => (await ada.visit(`/app/usage?${query}`)).html
    assert.match(await of(`key=${blog}`), /16 requests in the last 30 days/)
    assert.match(await of(`key=${blog}&operation=locateAddress`), /7 requests in/)
    const html = await of(`key=${blog}&operation=locateAddress&period=90d&split=endpoint`)
    assert.match(html, /18 requests in the last 90 days/)
    assert.equal(tableOf(html, 'requests per day')[0]?.[1], 'GET /v1/ip/{ipAddress}')
    for (const chosen of [blog, 'locateAddress', '90d', 'endpoint']) {
      assert.ok(html.includes(`<option value="${chosen}" selected="">`), chosen)
    }
    assert.match(await of('key=session'), /No requests in this period/)
  })

  it('shows the largest endpoints, and the others together', async () => {
    const operations = words('locateAddress getTimezone listKeys getUsage getProfile gone')
    for (const [at, operation] of operations.entries()) await add({ operation, requests: 60 - at })
    const { html } = await ada.visit('/app/usage?split=endpoint')
    const [heads, today] = tableOf(html, 'requests per day')
    assert.deepEqual(heads?.slice(-2), ['Others', 'All'])
    assert.deepEqual(today, ['15 Jan', '60', '59', '58', '57', '111', '345'])
    assert.match(html, /<code>gone<\/code>/)
  })

  it('says why the API refuses the filters', async () => {
    const { status, html } = await ada.visit('/app/usage?key=%3Cb%3E')
    assert.equal(status, 400)
    assert.match(html, /role="alert">key: must be the id of a key, or session/)
    assert.doesNotMatch(html, /<b>/)
  })

  it('is linked from the overview, the navigation and each key', async () => {
    const link = (path: string) => new RegExp(`href="${path.replace('?', '\\?')}"`)
    assert.match((await ada.visit('/app')).html, link('/app/usage'))
    const { html } = await ada.visit('/app/keys')
    for (const { id } of keys) assert.match(html, link(`/app/usage?key=${id}`))
  })
})

describe('GET /app/usage/export', () => {
  it('is a file of all counts that the page shows', async () => {
    await add({ requests: 5 })
    await add({ requests: 7, status: 429, ago: 1 })
    await add({ requests: 9, operation: 'getTimezone' })
    const query = 'operation=locateAddress&period=7d'
    const page = await ada.visit(`/app/usage?${query}`)
    const href = /href="(\/app\/usage\/export[^"]*)"/.exec(page.html)?.[1]?.replaceAll('&amp;', '&')
    const { headers, html } = await ada.visit(href ?? '')
    assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
    assert.match(headers.get('content-disposition') ?? '', /"usage-2026-01-09-2026-01-15\.csv"/)
    const id = keys.find(({ name }) => name === 'Shop')?.id
    assert.deepEqual(html.split('\r\n'), [
      'day,key,operation,status,requests',
      `2026-01-14,${id},locateAddress,429,7`,
      `2026-01-15,${id},locateAddress,200,5`,
      '',
    ])
  })
})
