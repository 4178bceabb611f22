import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { write } from '../support/database/sql.ts'
import { makeApp, NOON, type TestApp } from '../support/helpers.ts'
import { visitPage } from '../support/scene/pages.ts'
import { idOf, PERSON, personPath, signInOperator } from './operator.ts'

const PATH = '/app/operate/audit'
const DAY_MS = 24 * 60 * 60 * 1000

/** Adds rows of a user, one per detail, a day apart, the last one today. */
async function addRows(app: TestApp, email: string, details: readonly string[], action: string) {
  const id = await idOf(app, email)
  const sql = `INSERT INTO audit_log (app, actor_id, actor_label, action, detail, created_at)
    VALUES ('api', ?, ?, ?, ?, ?)`
  for (const [n, detail] of details.entries()) {
    const at = NOON - (details.length - 1 - n) * DAY_MS
    await write(app, sql, id, email, action, detail, at)
  }
}

function detailsOf(html: string): string[] {
  return [...html.matchAll(/<p class="detail">([^<]*)/g)].map(([, text = '']) => text)
}

function nextOf(html: string): string | undefined {
  return /href="([^"]*)">\s*Next/.exec(html)?.[1]?.replaceAll('&amp;', '&')
}

describe('the audit log of everybody', () => {
  it('shows all rows once, newest first, page by page', async () => {
    await using app = await makeApp()
    const cookie = await signInOperator(app)
    await app.makeKey({ email: PERSON })
    const details = Array.from({ length: 120 }, (_, n) => `shop ${n}`)
    await addRows(app, PERSON, details, 'create_key')
    const found: string[] = []
    let pages = 0
    for (let path: string | undefined = `${PATH}?action=create_key`; path !== undefined; pages++) {
      const { status, html } = await visitPage(app, path, { cookie })
      assert.equal(status, 200)
      found.push(...detailsOf(html))
      path = nextOf(html)
    }
    assert.equal(pages, 3)
    assert.deepEqual(found, details.toReversed())
  })

  it('finds rows by action, user and day', async () => {
    await using app = await makeApp()
    const cookie = await signInOperator(app)
    await app.makeKey({ email: PERSON })
    await app.makeKey({ email: 'eve@example.com' })
    await addRows(app, PERSON, ['a 13', 'a 14', 'a 15'], 'renew_key')
    await addRows(app, 'eve@example.com', ['e 15'], 'renew_key')
    await addRows(app, 'eve@example.com', ['e site'], 'create_site')
    const find = async (query: string) =>
      detailsOf((await visitPage(app, `${PATH}?${query}`, { cookie })).html)
    assert.deepEqual(await find('action=&user=&from=&to='), [
      'e site',
      'e 15',
      'a 15',
      'a 14',
      'a 13',
    ])
    assert.deepEqual(await find('action=renew_key'), ['e 15', 'a 15', 'a 14', 'a 13'])
    assert.deepEqual(await find('user=EVE@example.com'), ['e site', 'e 15'])
    assert.deepEqual(await find(`user=${await idOf(app, 'eve@example.com')}&action=renew_key`), [
      'e 15',
    ])
    assert.deepEqual(await find('to=2026-01-14'), ['a 14', 'a 13'])
    assert.deepEqual(await find('from=2026-01-14&to=2026-01-14'), ['a 14'])
    assert.deepEqual(await find(`from=2026-01-15&user=${PERSON}`), ['a 15'])
    assert.deepEqual(await find('to=2020-01-01'), [])
    assert.deepEqual(await find('from=2999-01-01'), [])
    assert.deepEqual(await find('user=nobody@example.com'), [])
  })

  it('links the account, and names it by its id once it is deleted', async () => {
    await using app = await makeApp()
    const cookie = await signInOperator(app)
    await app.makeKey({ email: PERSON })
    await addRows(app, PERSON, ['shop'], 'renew_key')
    const person = await personPath(app)
    const { html } = await visitPage(app, PATH, { cookie })
    assert.ok(html.includes(`<a href="${person}">${PERSON}</a>`))
    const id = await idOf(app, PERSON)
    await visitPage(app, `${person}/delete`, { cookie, form: { email: PERSON } })
    const after = await visitPage(app, `${PATH}?user=${id}`, { cookie })
    assert.match(after.html, /renew_key/)
    assert.ok(after.html.includes(`Account: <code>${id}</code>`))
    assert.ok(!after.html.includes(PERSON))
  })

  it('refuses queries that it does not understand', async () => {
    await using app = await makeApp()
    const cookie = await signInOperator(app)
    const long = 'x'.repeat(321)
    const queries = ['before=0', 'before=-1', 'before=x', 'before=9999999999999999', 'from=today']
    for (const query of [...queries, 'to=2026-13-01', `user=${long}`, `action=${long}`]) {
      assert.equal((await visitPage(app, `${PATH}?${query}`, { cookie })).status, 400, query)
    }
    for (const query of ['to=2026-02-31', 'user=%00', 'action=%ff', 'before=1']) {
      assert.equal((await visitPage(app, `${PATH}?${query}`, { cookie })).status, 200, query)
    }
  })

  it('escapes markup in stored and typed texts', async () => {
    await using app = await makeApp()
    const cookie = await signInOperator(app)
    await app.makeKey({ email: PERSON })
    const text = '"><script>alert(1)</script>'
    await addRows(app, PERSON, [text], text)
    const query = new URLSearchParams({ user: text, action: text })
    for (const path of [PATH, `${PATH}?${query}`]) {
      const { html } = await visitPage(app, path, { cookie })
      assert.ok(!html.includes('<script>alert'), path)
      assert.ok(html.includes('&lt;script&gt;alert(1)'), path)
    }
  })
})
