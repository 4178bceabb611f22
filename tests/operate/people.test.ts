import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DEMO_USER, listUsers } from '../../lib/accounts/users.ts'
import { operateRoutes } from '../../routes/operate/operate.ts'
import { write } from '../support/database/sql.ts'
import { visitPage } from '../support/scene/pages.ts'
import { freshScene } from '../support/scene/scene.ts'
import { nextOf, OPERATOR, pagesFrom } from './operator.ts'

const app = freshScene()
const olga = app.operator('olga')

const PATH = '/app/operate/people'

/** Adds users of the free plan: user000@example.com and so on. */
async function addUsers(count: number): Promise<void> {
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
    await addUsers(120)
    const pages = (await pagesFrom(PATH, olga)).map(emailsOf)
    const emails = pages.flat()
    const sizes = pages.map(({ length }) => length)
    assert.deepEqual(sizes, [50, 50, 21])
    assert.equal(emails[0], OPERATOR)
    assert.deepEqual(emails, [...new Set(emails)].toSorted())
  })

  it('leads to a page that creates an account, of the free plan unless another is chosen', async () => {
    const list = await olga.visit(PATH)
    assert.doesNotMatch(list.html, /id="newEmail"/)
    const [, link = ''] = /href="([^"]*)">Create account</.exec(list.html) ?? []
    const { status, html } = await olga.visit(link)
    assert.equal(status, 200)
    assert.match(html, /people" aria-current="page"/)
    assert.match(html, /id="newPlan".*<option value="free" selected/)
    assert.equal(html.match(/ selected/g)?.length, 1)
    assert.match(html, /value="unlimited"/)
  })

  it('offers the filtered list as a file beside its count', async () => {
    const { html } = await olga.visit(`${PATH}?status=operators`)
    const [, link = ''] = /1 user <a href="([^"]*)">Download as CSV</.exec(html) ?? []
    assert.equal(link, `${PATH}.csv?status=operators`)
    assert.match((await olga.visit(link)).html, new RegExp(OPERATOR))
  })

  it('links to a person whose id an auth service chose, whatever it holds', async () => {
    const sql = `INSERT INTO users (id, email, email_verified, plan, created_at) VALUES (?, ?, 1, 'free', 0)`
    await write(app, sql, '../../<x9z>?a#b', 'odd@example.com')
    const { html } = await olga.visit(`${PATH}?search=odd`)
    const [, link = ''] = /href="([^"]*)">odd@example\.com</.exec(html) ?? []
    const person = await olga.visit(link)
    assert.equal(person.status, 200)
    assert.match(person.html, /odd@example\.com/)
    const actions = [...person.html.matchAll(/(?:href|action)="([^"]*\/(?:disable|delete))"/g)]
    assert.ok(actions.length > 1)
    for (const [, action = ''] of actions) {
      assert.equal((await olga.visit(action)).status, 200, action)
    }
  })

  it('keeps the filter from page to page', async () => {
    await addUsers(60)
    const first = await olga.visit(`${PATH}?search=USER0&plan=free`)
    assert.match(first.html, /value="user0"/)
    const next = nextOf(first.html) ?? ''
    assert.match(next, /search=user0&plan=free&status=all&after=user049%40example\.com$/)
    assert.equal(emailsOf((await olga.visit(next)).html).length, 10)
  })

  it('finds people by the beginning of the address, by plan and by status', async () => {
    await addUsers(4)
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
    for (const query of [`after=${long}`, `search=${long}`, 'plan=gold', 'status=constructor']) {
      const { status, html } = await olga.visit(`${PATH}?${query}`)
      assert.equal(status, 400, query)
      assert.match(html, /Request failed/)
    }
    for (const odd of ['%00', '%ff', '%F4%8F%BF%BF', "'"])
      for (const name of ['after', 'search'])
        assert.equal((await olga.visit(`${PATH}?${name}=${odd}`)).status, 200, odd)
  })

  it('leaves out the account of the landing page, as the command does', async () => {
    await app.services.openDemo()
    assert.ok((await listUsers(app.services.db)).every(({ email }) => email !== DEMO_USER))
    for (const query of ['', '?search=demo', '?plan=demo']) {
      const { html } = await olga.visit(`${PATH}${query}`)
      assert.doesNotMatch(html, />demo</, query)
    }
  })

  it('escapes markup in typed texts', async () => {
    const query = new URLSearchParams({ search: '"><script>alert(1)</script>' })
    const { html } = await olga.visit(`${PATH}?${query}`)
    assert.ok(!html.includes('<script>alert'))
    assert.ok(html.includes('&lt;script&gt;alert(1)'))
  })

  it('answers HEAD without a body', async () => {
    const headers = { cookie: await olga.enter() }
    const request = new Request(`http://127.0.0.1:8787${PATH}`, { method: 'HEAD', headers })
    const response = await app.app.fetch(request, { remoteAddress: '198.18.0.1' })
    assert.deepEqual([response.status, await response.text()], [200, ''])
  })
})

const ada = app.user('ada')

describe('the pages of operators', () => {
  it('have a menu', async () => {
    const { html } = await olga.visit('/app/operate/people')
    assert.match(html, /<nav class="groups" aria-label="Operate">/)
    assert.match(html, /href="\/app\/operate\/people" aria-current="page"/)
  })

  it('do not exist for other users', async () => {
    const unknown = await ada.visit('/app/unknown')
    for (const { method, path } of operateRoutes) {
      const { status, html } = await (method === 'post' ? ada.submit(path) : ada.visit(path))
      assert.equal(status, unknown.status, path)
      assert.match(html, /Page not found/, path)
    }
  })

  it('send a guest to sign in', async () => {
    for (const { method, path } of operateRoutes) {
      const page = await visitPage(app, path, { ...(method === 'post' && { form: {} }) })
      assert.equal(page.status, method === 'post' ? 401 : 303, path)
      assert.match(page.location ?? page.html, /\/app\/sign-in/, path)
    }
  })

  it('are linked from the dashboard of operators alone', async () => {
    const link = /href="\/app\/operate"/
    assert.match((await olga.visit('/app/keys')).html, link)
    assert.doesNotMatch((await ada.visit('/app/keys')).html, link)
  })

  it('close with the request after the role is taken', async () => {
    await olga.enter()
    await write(app, "UPDATE users SET role = 'user'")
    assert.equal((await olga.visit('/app/operate/people')).status, 404)
  })
})
