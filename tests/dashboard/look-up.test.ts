import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { toCapShares } from '../../lib/contract/account/cap-shares.ts'
import { BatchResponse } from '../../lib/contract/geo/batch.ts'
import { codeOf, NOON } from '../support/helpers.ts'
import { freshScene } from '../support/scene/scene.ts'
import { freshClient } from '../support/scene/send.ts'

const app = freshScene()
const ada = app.user('ada')

/** Counts so many requests of Ada's in the period. */
async function spend(requests: number): Promise<void> {
  const { meters, plans } = app.services
  const caller = {
    userId: (await ada.row()).id,
    plan: plans.free,
    paid: null,
    capShares: toCapShares(null),
    key: null,
  }
  meters.open(caller, NOON).count(requests)
}

/** How many requests of Ada's are counted in the period. */
async function counted(): Promise<number> {
  const caller = { userId: (await ada.row()).id, paid: null }
  return app.services.meters.periodRequests(caller, NOON)
}

function lookUp(text: string) {
  return ada.visit(`/app/look-up?${new URLSearchParams({ ip: text })}`)
}

describe('GET /app/look-up', () => {
  it('shows an address on a map that this service draws', async () => {
    const { status, html } = await lookUp(' 81.2.69.160 ')
    assert.equal(status, 200)
    assert.match(html, /London, City of London, England, United Kingdom/)
    const label =
      /aria-label="Map of London[^"]*51\.5142°\u00a0N, 0\.0931°\u00a0W\) \(within 6 miles\)"/
    assert.match(html, label)
    assert.match(html, /<circle class="point" cx="-0.0931" cy="-51.5142"/)
    const images = [...html.matchAll(/<image href="([^"#]*)(#?[^"]*)"/g)]
    assert.deepEqual(
      images.map(([, path = '', fragment]) => path.replace(/\.[0-9a-f]{16}\./, '.') + fragment),
      ['/assets/map-5-1.svg#GB', '/assets/map-6-1.svg#GB', '/assets/world-map.svg'],
    )
    for (const [, path = ''] of images) {
      const map = await app.app.fetch(new Request(`http://127.0.0.1:8787${path}`), {})
      assert.equal(map.status, 200)
      assert.equal(map.headers.get('content-type'), 'image/svg+xml')
      assert.match(await map.text(), /^<svg/)
    }
  })

  it('counts as one request of the user, and says so', async () => {
    assert.match((await lookUp('')).html, /Each look-up counts as one request of your plan/)
    assert.equal(await counted(), 0)
    await lookUp('81.2.69.160')
    assert.equal(await counted(), 1)
    await lookUp('10.0.0.1')
    assert.equal(await counted(), 2)
  })

  it('says that nothing is known, or that there are no coordinates', async () => {
    const unknown = await lookUp('10.0.0.1')
    assert.equal(unknown.status, 200)
    assert.match(unknown.html, /private, reserved or unused, or no database lists it yet/)
    assert.doesNotMatch(unknown.html, /<image/)
    const vague = await lookUp('17.0.0.1')
    assert.match(vague.html, /United States/)
    assert.match(vague.html, /no coordinates, so no map is shown/)
  })

  it('refuses an invalid address without charging for it', async () => {
    for (const text of ['nope', '..', '.', 'me', '1.2.3.4/24', '"><script>alert(1)</script>']) {
      const { status, html } = await lookUp(text)
      assert.equal(status, 400, text)
      assert.match(html, /is neither an IPv4 address/)
      assert.ok(!html.includes('<script>alert'))
    }
    assert.equal(await counted(), 0)
  })

  it('says that the result is reduced once all requests of the period are used', async () => {
    await spend(5_000)
    const { status, html } = await lookUp('81.2.69.160')
    assert.equal(status, 200)
    assert.match(html, /this result contains only the country/)
    assert.doesNotMatch(html, /<image/)
  })

  it('says when to try again after too many look-ups', async () => {
    for (let n = 0; n < 10; n++) await lookUp('81.2.69.160')
    const { status, html } = await lookUp('81.2.69.160')
    assert.equal(status, 429)
    assert.match(html, /role="alert">Too many requests; try again in \d+ s\./)
    assert.match(html, /value="81\.2\.69\.160"/)
  })
})

/** Sends a request as the script of the page does. */
async function sendAsScript(body: unknown, more: Readonly<Record<string, string>> = {}) {
  const sent = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
  const request = new Request('http://127.0.0.1:8787/app/batch', {
    method: 'POST',
    redirect: 'manual',
    headers: { ...sent, cookie: await ada.enter(), ...more },
    body: JSON.stringify(body),
  })
  const response = await app.app.fetch(request, { remoteAddress: freshClient() })
  const { status, headers } = response
  const text = await response.text()
  const isJson = headers.get('content-type') === 'application/json'
  return { status, headers, body: isJson ? JSON.parse(text) : null }
}

/** The cells of the table of the results, with its head. */
function tableIn(html: string): string[][] {
  const [, table = ''] = /<figure class="wide answers".*?>(.*?)<\/figure>/s.exec(html) ?? []
  return [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => cell),
  )
}

describe('POST /app/batch', () => {
  it('answers the form with a table of the chosen columns', async () => {
    const form = { addresses: '81.2.69.160\r\nnope\r\n\r\n10.0.0.1', column: ['city', 'asn'] }
    const { status, html } = await ada.submit('/app/batch', form)
    assert.equal(status, 200)
    assert.deepEqual(tableIn(html), [
      ['column_1', 'Address', 'City', 'ASN', 'Error'],
      ['81.2.69.160', '81.2.69.160', 'London', 'AS20712', ''],
      ['nope', '', '', '', 'No IPv4 or IPv6 address'],
      ['10.0.0.1', '10.0.0.1', '', '', ''],
    ])
    assert.match(
      html,
      /United Kingdom \(GB\)<\/th><td class="number">1<\/td><td class="number">50%</,
    )
    assert.match(html, /aria-label="Map of the world, most addresses: around London, GB: 1 row"/)
    assert.equal(await counted(), 2)
  })

  it('recognises the form of a list, keeps its columns, and asks for each address once', async () => {
    const addresses = 'who;ip\r\nAda;81.2.69.160\r\n"Doe; Jo";[2001:db8::1]:443\r\nEve;81.2.69.160'
    const form = { addresses, column: 'city' }
    const { html } = await ada.submit('/app/batch', form)
    assert.match(html, /CSV with semicolons, with a header; addresses in “ip”/)
    assert.deepEqual(tableIn(html), [
      ['who', 'ip', 'Address', 'City'],
      ['Ada', '81.2.69.160', '81.2.69.160', 'London'],
      ['Doe; Jo', '[2001:db8::1]:443', '2001:db8::1', ''],
      ['Eve', '81.2.69.160', '81.2.69.160', 'London'],
    ])
    assert.equal(await counted(), 2)
  })

  it('shows the addresses of a plain list once, and no column that says nothing', async () => {
    const form = { addresses: '16.0.0.1\r\n10.0.0.1', column: ['country', 'postal_code'] }
    const { html } = await ada.submit('/app/batch', form)
    assert.match(html, /id="recognised"[^>]*>One address per line\./)
    assert.deepEqual(tableIn(html), [
      ['Address', 'Country code'],
      ['16.0.0.1', 'BR'],
      ['10.0.0.1', ''],
    ])
  })

  it('shows all cells of a row that has more of them than the others', async () => {
    const addresses = `${'a,::1\r\n'.repeat(10)}c,::1,more`
    const { html } = await ada.submit('/app/batch', { addresses, column: 'city' })
    assert.deepEqual(tableIn(html).at(-1), ['c', '::1', 'more', '::1'])
  })

  it('takes corrections', async () => {
    const corrections = { kind: 'comma', header: 'no', place: '1', take: 'last' }
    const form = { addresses: 'a,from 10.0.0.1 to 81.2.69.160', column: 'city', ...corrections }
    const { html } = await ada.submit('/app/batch', form)
    assert.match(html, /CSV with commas; addresses in “column_2”, the last of several/)
    assert.deepEqual(tableIn(html)[1]?.slice(2, 4), ['81.2.69.160', 'London'])
    assert.match(html, /<option value="1" selected="">in column_2/)
    const folded = '<summary>Set it yourself</summary>'
    assert.ok(html.includes(`<details open="">${folded}`), 'shows what was corrected')
    assert.ok((await ada.visit('/app/batch')).html.includes(`<details>${folded}`))
  })

  it('shows what is wrong with the input, and keeps it', async () => {
    const send = (addresses: string) => ada.submit('/app/batch', { addresses })
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
    const start = '2001:db8:aaaa:aaaa:aaaa:aaaa:aaaa'
    const all = Array.from({ length: 1_000 }, (_, n) => `${start}:${1_000 + n}`)
    const form = { addresses: all.join('\r\n'), column: 'city' }
    const { status, html } = await ada.submit('/app/batch', form)
    assert.equal(status, 200)
    const [, ...rows] = tableIn(html).map(([address]) => address)
    assert.deepEqual(rows, all)
  })

  it('escapes markup in the input', async () => {
    const form = { addresses: '</textarea><script>alert(1)</script>' }
    const { html } = await ada.submit('/app/batch', form)
    assert.ok(!html.includes('<script>alert'))
  })

  it('gives its script the answer of the API', async () => {
    const batch = { ips: ['81.2.69.160', 'nope'], fields: ['query', 'location.city'] }
    const { status, headers, body } = await sendAsScript(batch)
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'application/json')
    const { results } = v.parse(BatchResponse, body)
    assert.deepEqual(results[0], {
      query: { type: 'ip', value: '81.2.69.160', ipVersion: 4 },
      location: { city: 'London' },
    })
  })

  it('gives its script the error, and the time to wait', async () => {
    const bad = await sendAsScript({ ips: [] })
    assert.equal(bad.status, 400)
    assert.equal(codeOf(bad), 'BAD_REQUEST')
    const ips = Array<string>(1_000).fill('81.2.69.160')
    assert.equal((await sendAsScript({ ips })).status, 200)
    const limited = await sendAsScript({ ips })
    assert.equal(limited.status, 429)
    assert.equal(codeOf(limited), 'RATE_LIMITED')
    assert.ok(Number(limited.headers.get('retry-after')) > 0)
  })

  it('refuses other sites, and redirects signed-out users to the sign-in page', async () => {
    const body = { ips: ['81.2.69.160'] }
    const { headers } = await sendAsScript(body, { cookie: '' })
    assert.equal(headers.get('location'), '/app/sign-in')
    assert.equal((await sendAsScript(body, { 'sec-fetch-site': 'cross-site' })).status, 403)
  })

  it('says that results are reduced once all requests of the period are used', async () => {
    await spend(5_000)
    const form = { addresses: '81.2.69.160' }
    const { html } = await ada.submit('/app/batch', form)
    assert.match(html, /results that are marked as degraded contain only the country/)
    assert.equal(tableIn(html)[1]?.at(-1), 'true')
  })
})
