import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { findUserByEmail } from '../../../lib/accounts/users.ts'
import { BatchResponse } from '../../../lib/contract/geo/batch.ts'
import { codeOf, NOON, type TestApp } from '../../support/helpers.ts'
import { signInNewUser, visitPage } from '../../support/scene/pages.ts'
import { freshScene } from '../../support/scene/scene.ts'
import { freshClient } from '../../support/scene/send.ts'

async function findAda({ services }: TestApp) {
  const user = await findUserByEmail(services.db, 'ada@example.com')
  assert.ok(user)
  return { userId: user.id, plan: services.plans.free, paid: null, key: null }
}

/** Sends a request as the script of the page does. */
async function sendAsScript({ app }: TestApp, cookie: string, body: unknown, headers = {}) {
  const request = new Request('http://127.0.0.1:8787/app/batch', {
    method: 'POST',
    redirect: 'manual',
    headers: {
      'content-type': 'application/json',
      'sec-fetch-site': 'same-origin',
      cookie,
      ...headers,
    },
    body: JSON.stringify(body),
  })
  const response = await app.fetch(request, { remoteAddress: freshClient() })
  return {
    status: response.status,
    headers: response.headers,
    body: response.status === 303 ? null : await response.json(),
  }
}

/** The cells of the table of the results, with its head. */
function tableIn(html: string): string[][] {
  const [, table = ''] = /<figure class="wide answers".*?>(.*?)<\/figure>/s.exec(html) ?? []
  return [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => cell),
  )
}

describe('POST /app/batch', () => {
  const app = freshScene()

  it('answers the form with a table of the chosen columns', async () => {
    const cookie = await signInNewUser(app)
    const form = { addresses: '81.2.69.160\r\nnope\r\n\r\n10.0.0.1', column: ['city', 'asn'] }
    const { status, html } = await visitPage(app, '/app/batch', { cookie, form })
    assert.equal(status, 200)
    assert.deepEqual(tableIn(html), [
      ['column_1', 'ip', 'city', 'asn', 'degraded', 'error'],
      ['81.2.69.160', '81.2.69.160', 'London', 'AS20712', '', ''],
      ['nope', '', '', '', '', 'No IPv4 or IPv6 address'],
      ['10.0.0.1', '10.0.0.1', '', '', '', ''],
    ])
    assert.match(html, /United Kingdom \(GB\)<\/th><td>1<\/td><td>50\.0 %</)
    assert.match(html, /aria-label="Map of the world, most addresses: around London, GB: 1 row"/)
    assert.equal(app.services.meters.periodRequests(await findAda(app), NOON), 2)
  })

  it('recognises the form of a list, keeps its columns, and asks for each address once', async () => {
    const cookie = await signInNewUser(app)
    const addresses = 'who;ip\r\nAda;81.2.69.160\r\n"Doe; Jo";[2001:db8::1]:443\r\nEve;81.2.69.160'
    const form = { addresses, column: 'city' }
    const { html } = await visitPage(app, '/app/batch', { cookie, form })
    assert.match(html, /CSV with semicolons, with a header; addresses in “ip”/)
    assert.deepEqual(tableIn(html), [
      ['who', 'ip', 'geo_ip', 'city', 'degraded', 'error'],
      ['Ada', '81.2.69.160', '81.2.69.160', 'London', '', ''],
      ['Doe; Jo', '[2001:db8::1]:443', '2001:db8::1', '', '', ''],
      ['Eve', '81.2.69.160', '81.2.69.160', 'London', '', ''],
    ])
    assert.equal(app.services.meters.periodRequests(await findAda(app), NOON), 2)
  })

  it('takes corrections', async () => {
    const cookie = await signInNewUser(app)
    const corrections = { kind: 'comma', header: 'no', place: '1', take: 'last' }
    const form = { addresses: 'a,from 10.0.0.1 to 81.2.69.160', column: 'city', ...corrections }
    const { html } = await visitPage(app, '/app/batch', { cookie, form })
    assert.match(html, /CSV with commas; addresses in “column_2”, the last of several/)
    assert.deepEqual(tableIn(html)[1]?.slice(2, 4), ['81.2.69.160', 'London'])
    assert.match(html, /<option value="1" selected="">in column_2/)
  })

  it('shows what is wrong with the input, and keeps it', async () => {
    const cookie = await signInNewUser(app)
    const send = (addresses: string) =>
      visitPage(app, '/app/batch', { cookie, form: { addresses } })
    const empty = await send(' \n ')
    assert.equal(empty.status, 400)
    assert.match(empty.html, /role="alert">Enter at least one address\./)
    const many = await send('::1\n'.repeat(1_001))
    assert.equal(many.status, 400)
    assert.match(many.html, /1001 rows are too many; the maximum is 1000/)
    assert.match(many.html, /::1\n<\/textarea>/)
    const wide = await send(`::1${',x'.repeat(100_000)}`)
    assert.equal(wide.status, 400)
    assert.match(wide.html, /100001 columns are too many; the maximum is 50/)
  })

  it('accepts a form with a thousand of the longest addresses', async () => {
    const cookie = await signInNewUser(app)
    const all = Array.from(
      { length: 1_000 },
      (_, n) => `2001:db8:aaaa:aaaa:aaaa:aaaa:aaaa:${1_000 + n}`,
    )
    const form = { addresses: all.join('\r\n'), column: 'city' }
    const { status, html } = await visitPage(app, '/app/batch', { cookie, form })
    assert.equal(status, 200)
    assert.deepEqual(
      tableIn(html)
        .slice(1)
        .map(([address]) => address),
      all,
    )
  })

  it('escapes markup in the input', async () => {
    const cookie = await signInNewUser(app)
    const form = { addresses: '</textarea><script>alert(1)</script>' }
    const { html } = await visitPage(app, '/app/batch', { cookie, form })
    assert.ok(!html.includes('<script>alert'))
  })

  it('gives its script the answer of the API', async () => {
    const cookie = await signInNewUser(app)
    const batch = { ips: ['81.2.69.160', 'nope'], fields: ['query', 'location.city'] }
    const { status, headers, body } = await sendAsScript(app, cookie, batch)
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'application/json')
    const { results } = v.parse(BatchResponse, body)
    assert.deepEqual(results[0], {
      query: { type: 'ip', value: '81.2.69.160', ipVersion: 4 },
      location: { city: 'London' },
    })
  })

  it('gives its script the error, and the time to wait', async () => {
    const cookie = await signInNewUser(app)
    const bad = await sendAsScript(app, cookie, { ips: [] })
    assert.equal(bad.status, 400)
    assert.equal(codeOf(bad), 'BAD_REQUEST')
    const ips = Array<string>(1_000).fill('81.2.69.160')
    assert.equal((await sendAsScript(app, cookie, { ips })).status, 200)
    const limited = await sendAsScript(app, cookie, { ips })
    assert.equal(limited.status, 429)
    assert.equal(codeOf(limited), 'RATE_LIMITED')
    assert.ok(Number(limited.headers.get('retry-after')) > 0)
  })

  it('refuses other sites, and redirects signed-out users to the sign-in page', async () => {
    const cookie = await signInNewUser(app)
    const body = { ips: ['81.2.69.160'] }
    const { headers } = await sendAsScript(app, '', body)
    assert.equal(headers.get('location'), '/app/sign-in')
    const request = new Request('http://127.0.0.1:8787/app/batch', {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/json', 'sec-fetch-site': 'cross-site' },
      body: JSON.stringify(body),
    })
    const response = await app.app.fetch(request, { remoteAddress: freshClient() })
    assert.equal(response.status, 403)
    await response.body?.cancel()
  })

  it('says that results are reduced once all requests of the period are used', async () => {
    const cookie = await signInNewUser(app)
    app.services.meters.open(await findAda(app), NOON).count(5_000)
    const form = { addresses: '81.2.69.160' }
    const { html } = await visitPage(app, '/app/batch', { cookie, form })
    assert.match(html, /results that are marked as degraded contain only the country/)
    assert.deepEqual(tableIn(html)[1]?.slice(-2), ['true', ''])
  })
})
