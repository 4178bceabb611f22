import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { write } from '../support/database/sql.ts'
import type { TestApp } from '../support/helpers.ts'
import { freshScene } from '../support/scene/scene.ts'
import { nextOf, OPERATOR } from './operator.ts'

const app = freshScene()
const olga = app.operator('olga')

const PATH = '/app/operate/people'

/** Adds users of the free plan: user000@example.com and so on. */
async function addUsers(app: TestApp, count: number): Promise<void> {
  const sql = `INSERT INTO users (id, email, email_verified, plan, created_at) VALUES (?, ?, 1, 'free', 0)`
  for (let n = 0; n < count; n++)
    await write(app, sql, `id-${n}`, `user${String(n).padStart(3, '0')}@example.com`)
}

function emailsOf(html: string): string[] {
  return [...html.matchAll(/href="\/app\/operate\/people\/[^"/?]+">([^<]+@[^<]+)</g)].map(
    ([, email = '']) => email,
  )
}

describe('the list of people', () => {
  it('shows everybody once, page by page', async () => {
    await addUsers(app, 120)
    const emails: string[] = []
    const sizes: number[] = []
    for (let path: string | undefined = PATH; path !== undefined; ) {
      const { status, html } = await olga.visit(path)
      assert.equal(status, 200)
      const found = emailsOf(html)
      sizes.push(found.length)
      emails.push(...found)
      path = nextOf(html)
    }
    assert.deepEqual(sizes, [50, 50, 21])
    assert.equal(emails[0], OPERATOR)
    assert.deepEqual(emails, [...new Set(emails)].toSorted())
  })

  it('keeps the filter from page to page', async () => {
    await addUsers(app, 60)
    const first = await olga.visit(`${PATH}?search=USER0&plan=free`)
    assert.match(first.html, /value="user0"/)
    const next = nextOf(first.html) ?? ''
    assert.match(next, /search=user0&plan=free&status=all&after=user049%40example\.com$/)
    assert.equal(emailsOf((await olga.visit(next)).html).length, 10)
  })

  it('finds people by the beginning of the address, by plan and by status', async () => {
    await addUsers(app, 4)
    await write(
      app,
      `UPDATE users SET plan = 'pro' WHERE id = 'id-1';
      UPDATE users SET disabled_at = 1 WHERE id = 'id-2';
      INSERT INTO billing_customers (user_id, customer_id, created_at)
        VALUES ('id-3', 'cus_3', 0), ('id-1', 'cus_1', 0);
      INSERT INTO subscriptions (user_id, id, item_id, plan, status, period_start, period_end, overages)
        VALUES ('id-3', 'sub_3', 'si_3', 'pro', 'active', 0, 1, 0),
          ('id-1', 'sub_1', 'si_1', 'starter', 'canceled', 0, 1, 0)`,
    )
    const find = async (query: string) => emailsOf((await olga.visit(`${PATH}?${query}`)).html)
    assert.deepEqual(await find('search=user002'), ['user002@example.com'])
    assert.deepEqual(await find('plan=pro'), ['user001@example.com', 'user003@example.com'])
    assert.deepEqual(await find('plan=starter'), [])
    assert.deepEqual(await find('status=disabled'), ['user002@example.com'])
    assert.deepEqual(await find('status=operators'), [OPERATOR])
    assert.deepEqual(await find('status=unverified'), [OPERATOR])
    assert.deepEqual(await find('status=disabled&plan=pro'), [])
    assert.deepEqual(await find('search=%25'), [])
  })

  it('says that nobody matches', async () => {
    const { status, html } = await olga.visit(`${PATH}?search=nobody`)
    assert.equal(status, 200)
    assert.match(html, /Nobody matches/)
  })

  it('refuses queries that it does not understand', async () => {
    const long = 'x'.repeat(321)
    const queries = [`after=${long}`, `search=${long}`, 'plan=gold', 'status=constructor']
    for (const query of queries) {
      const { status, html } = await olga.visit(`${PATH}?${query}`)
      assert.equal(status, 400, query)
      assert.match(html, /Request failed/)
    }
    for (const odd of ['%00', '%ff', '%F4%8F%BF%BF', "'"]) {
      for (const name of ['after', 'search']) {
        assert.equal((await olga.visit(`${PATH}?${name}=${odd}`)).status, 200, odd)
      }
    }
  })

  it('escapes markup in typed texts', async () => {
    const query = new URLSearchParams({ search: '"><script>alert(1)</script>' })
    const { html } = await olga.visit(`${PATH}?${query}`)
    assert.ok(!html.includes('<script>alert'))
    assert.ok(html.includes('&lt;script&gt;alert(1)'))
  })

  it('answers HEAD without a body', async () => {
    const cookie = await olga.enter()
    const request = new Request(`http://127.0.0.1:8787${PATH}`, {
      method: 'HEAD',
      headers: { cookie },
    })
    const response = await app.app.fetch(request, { remoteAddress: '198.18.0.1' })
    assert.deepEqual([response.status, await response.text()], [200, ''])
  })
})
