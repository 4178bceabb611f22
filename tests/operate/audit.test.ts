import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { write } from '../support/database/sql.ts'
import { NOON } from '../support/helpers.ts'
import type { Person } from '../support/scene/person.ts'
import { freshScene } from '../support/scene/scene.ts'
import { nextOf, PERSON, personPath } from './operator.ts'

const app = freshScene()
const olga = app.operator('olga')
const eve = app.user('eve')
const ada = app.user('ada')

const PATH = '/app/operate/audit'
const DAY_MS = 24 * 60 * 60 * 1000

/** Adds rows of a user, one per detail, a day apart, the last one today. */
async function addRows(of: Person, details: readonly string[], action: string) {
  const { id, email } = await of.row()
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

describe('the audit log of everybody', () => {
  it('shows all rows once, newest first, page by page', async () => {
    await ada.key()
    const details = Array.from({ length: 120 }, (_, n) => `shop ${n}`)
    await addRows(ada, details, 'create_key')
    const found: string[] = []
    let pages = 0
    for (let path: string | undefined = `${PATH}?action=create_key`; path !== undefined; pages++) {
      const { status, html } = await olga.visit(path)
      assert.equal(status, 200)
      found.push(...detailsOf(html))
      path = nextOf(html)
    }
    assert.equal(pages, 3)
    assert.deepEqual(found, details.toReversed())
  })

  it('finds rows by action, user and day', async () => {
    await ada.key()
    await eve.key()
    await addRows(ada, ['a 13', 'a 14', 'a 15'], 'renew_key')
    await addRows(eve, ['e 15'], 'renew_key')
    await addRows(eve, ['e site'], 'create_site')
    const find = async (query: string) => detailsOf((await olga.visit(`${PATH}?${query}`)).html)
    assert.deepEqual(await find('action=&user=&from=&to='), [
      'e site',
      'e 15',
      'a 15',
      'a 14',
      'a 13',
    ])
    assert.deepEqual(await find('action=renew_key'), ['e 15', 'a 15', 'a 14', 'a 13'])
    assert.deepEqual(await find('user=EVE@example.com'), ['e site', 'e 15'])
    assert.deepEqual(await find(`user=${(await eve.row()).id}&action=renew_key`), ['e 15'])
    assert.deepEqual(await find('to=2026-01-14'), ['a 14', 'a 13'])
    assert.deepEqual(await find('from=2026-01-14&to=2026-01-14'), ['a 14'])
    assert.deepEqual(await find(`from=2026-01-15&user=${PERSON}`), ['a 15'])
    assert.deepEqual(await find('to=2020-01-01'), [])
    assert.deepEqual(await find('from=2999-01-01'), [])
    assert.deepEqual(await find('user=nobody@example.com'), [])
  })

  it('links the account, and names it by its id once it is deleted', async () => {
    await ada.key()
    await addRows(ada, ['shop'], 'renew_key')
    const person = await personPath(ada)
    const { html } = await olga.visit(PATH)
    assert.ok(html.includes(`<a href="${person}">${PERSON}</a>`))
    const id = (await ada.row()).id
    await olga.submit(`${person}/delete`, { email: PERSON })
    const after = await olga.visit(`${PATH}?user=${id}`)
    assert.match(after.html, /renew_key/)
    assert.ok(after.html.includes(`Account: <code>${id}</code>`))
    assert.ok(!after.html.includes(PERSON))
  })

  it('refuses queries that it does not understand', async () => {
    const long = 'x'.repeat(321)
    const queries = ['before=0', 'before=-1', 'before=x', 'before=9999999999999999', 'from=today']
    for (const query of [...queries, 'to=2026-13-01', `user=${long}`, `action=${long}`]) {
      assert.equal((await olga.visit(`${PATH}?${query}`)).status, 400, query)
    }
    for (const query of ['to=2026-02-31', 'user=%00', 'action=%ff', 'before=1']) {
      assert.equal((await olga.visit(`${PATH}?${query}`)).status, 200, query)
    }
  })

  it('escapes markup in stored and typed texts', async () => {
    await ada.key()
    const text = '"><script>alert(1)</script>'
    await addRows(ada, [text], text)
    const query = new URLSearchParams({ user: text, action: text })
    for (const path of [PATH, `${PATH}?${query}`]) {
      const { html } = await olga.visit(path)
      assert.ok(!html.includes('<script>alert'), path)
      assert.ok(html.includes('&lt;script&gt;alert(1)'), path)
    }
  })
})
