import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { write } from '../support/database/sql.ts'
import { NOON } from '../support/helpers.ts'
import type { Person } from '../support/scene/person.ts'
import { freshScene } from '../support/scene/scene.ts'
import { PERSON, pagesFrom, personPath } from './operator.ts'

const app = freshScene()
const olga = app.operator('olga')
const eve = app.user('eve')
const ada = app.user('ada')

const PATH = '/app/operate/audit'

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
  return [...html.matchAll(/<\/strong> <bdi>([^<]*)/g)].map(([, text = '']) => text)
}

describe('the audit log of everybody', () => {
  it('shows all rows once, newest first, page by page', async () => {
    await ada.key()
    const details = Array.from({ length: 120 }, (_, n) => `shop ${n}`)
    await addRows(ada, details, 'create_key')
    const pages = await pagesFrom(`${PATH}?action=create_key`, olga)
    assert.equal(pages.length, 3)
    assert.deepEqual(pages.flatMap(detailsOf), details.toReversed())
  })

  it('finds rows by action, user and day', async () => {
    await ada.key()
    await eve.key()
    await addRows(ada, ['a 13', 'a 14', 'a 15'], 'renew_key')
    await addRows(eve, ['e 15'], 'renew_key')
    await addRows(eve, ['e site'], 'create_site')
    const find = async (query: string) => detailsOf((await olga.visit(`${PATH}?${query}`)).html)
    const all = ['e site', 'e 15', 'a 15', 'a 14', 'a 13']
    assert.deepEqual(await find('action=&user=&from=&to='), all)
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
    assert.doesNotMatch(html, /account <bdi>/, 'ada did all in her own account')
    const sql = `INSERT INTO audit_log (app, actor_id, actor_label, action, created_at)
      VALUES ('cli', ?, 'npm run user', 'set_role', ?)`
    await write(app, sql, (await ada.row()).id, NOON)
    const byOther = await olga.visit(PATH)
    assert.match(
      byOther.html,
      /by <bdi>npm run user<\/bdi> · Command line · account <bdi>ada@example/,
    )
    const id = (await ada.row()).id
    await olga.submit(`${person}/delete`, { email: PERSON })
    const after = await olga.visit(`${PATH}?user=${id}`)
    assert.match(after.html, /renew_key/)
    assert.ok(after.html.includes(`<dt>Account</dt><dd><code>${id}</code></dd>`))
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

const SITES = '/app/operate/sites'

interface Proof {
  readonly provenAt?: number
  readonly missingSince?: number
  readonly isFirst?: 1
}

async function addSite({ row }: Person, name: string, proof: Proof = {}) {
  const { provenAt = null, missingSince = null, isFirst = 0 } = proof
  const { id } = await row()
  const sql = `INSERT INTO sites (id, user_id, name, host, created_at, proven_at, missing_since, is_first)
    VALUES (?, ?, ?, 'shop.example', ?, ?, ?, ?)`
  const values = [crypto.randomUUID(), id, name, NOON, provenAt, missingSince, isFirst]
  await write(app, sql, ...values)
}

function rowsOf(html: string): string[][] {
  return [...html.matchAll(/<tr><th scope="row">.*?<\/tr>/g)].map(([row]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, cell = '']) =>
      cell.replaceAll(/<[^>]*>/g, ''),
    ),
  )
}

describe('the sites of everybody', () => {
  it('show their owners and proofs', async () => {
    await ada.key()
    await eve.key()
    await addSite(ada, 'https://a.example', { isFirst: 1 })
    await addSite(eve, 'https://b.example')
    await addSite(ada, 'https://c.example', { provenAt: NOON })
    await addSite(ada, 'https://d.example', { provenAt: 1, missingSince: NOON })
    const { status, html } = await olga.visit(SITES)
    assert.equal(status, 200)
    assert.deepEqual(rowsOf(html), [
      ['https://a.example', PERSON, 'None; registered first', '15 Jan'],
      ['https://b.example', 'eve@example.com', 'None', '15 Jan'],
      ['https://c.example', PERSON, 'Since 15 Jan', '15 Jan'],
      ['https://d.example', PERSON, 'Record missing since 15 Jan', '15 Jan'],
    ])
    assert.ok(html.includes(`href="${await personPath(ada)}"`))
    const found = await olga.visit(`${SITES}?search=HTTPS://b`)
    const names = rowsOf(found.html).map(([name]) => name)
    assert.deepEqual(names, ['https://b.example'])
    assert.match((await olga.visit(`${SITES}?search=ftp`)).html, /No site matches/)
    assert.equal(rowsOf((await olga.visit(`${SITES}?search=`)).html).length, 4)
  })

  it('are all shown once, page by page, also those of one origin', async () => {
    await write(
      app,
      `WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 119)
      INSERT INTO users (id, email, plan, created_at)
      SELECT 'id-' || n, n || '@example.com', 'free', 0 FROM n;
      INSERT INTO sites (id, user_id, name, host, created_at)
      SELECT 'site-' || id, id, 'https://shop.example', 'shop.example', 0 FROM users
      WHERE id LIKE 'id-%'`,
    )
    const owners = (await pagesFrom(SITES, olga)).flatMap(rowsOf).map(([, owner]) => owner)
    assert.equal(owners.length, 120)
    assert.equal(new Set(owners).size, 120)
  })

  it('refuse queries that they do not understand', async () => {
    const long = 'x'.repeat(501)
    const bad = ['after=', 'after=x', 'after=a%20b%20c', `after=${long}`, `search=${long}`]
    for (const query of bad)
      assert.equal((await olga.visit(`${SITES}?${query}`)).status, 400, query)
    for (const query of ['after=a%20b', 'search=%00', 'search=%25'])
      assert.equal((await olga.visit(`${SITES}?${query}`)).status, 200, query)
  })
})
