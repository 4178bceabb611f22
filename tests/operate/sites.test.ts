import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { write } from '../support/database/sql.ts'
import { makeApp, NOON, type TestApp } from '../support/helpers.ts'
import { visitPage } from '../support/scene/pages.ts'
import { idOf, PERSON, personPath, signInOperator } from './operator.ts'

const PATH = '/app/operate/sites'

interface Proof {
  readonly provenAt?: number
  readonly missingSince?: number
  readonly isFirst?: 1
}

async function addSite(app: TestApp, email: string, name: string, proof: Proof = {}) {
  const { provenAt = null, missingSince = null, isFirst = 0 } = proof
  await write(
    app,
    `INSERT INTO sites (id, user_id, name, host, created_at, proven_at, missing_since, is_first)
       VALUES (?, ?, ?, 'shop.example', ?, ?, ?, ?)`,
    crypto.randomUUID(),
    await idOf(app, email),
    name,
    NOON,
    provenAt,
    missingSince,
    isFirst,
  )
}

function rowsOf(html: string): string[][] {
  return [...html.matchAll(/<tr><th scope="row">.*?<\/tr>/g)].map(([row]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, cell = '']) =>
      cell.replaceAll(/<[^>]*>/g, ''),
    ),
  )
}

function nextOf(html: string): string | undefined {
  return /href="([^"]*)">\s*Next/.exec(html)?.[1]?.replaceAll('&amp;', '&')
}

describe('the sites of everybody', () => {
  it('show their owners and proofs', async () => {
    await using app = await makeApp()
    const cookie = await signInOperator(app)
    await app.makeKey({ email: PERSON })
    await app.makeKey({ email: 'eve@example.com' })
    await addSite(app, PERSON, 'https://a.example', { isFirst: 1 })
    await addSite(app, 'eve@example.com', 'https://b.example')
    await addSite(app, PERSON, 'https://c.example', { provenAt: NOON })
    await addSite(app, PERSON, 'https://d.example', { provenAt: 1, missingSince: NOON })
    const { status, html } = await visitPage(app, PATH, { cookie })
    assert.equal(status, 200)
    assert.deepEqual(rowsOf(html), [
      ['https://a.example', PERSON, 'None; registered first', '2026-01-15'],
      ['https://b.example', 'eve@example.com', 'None', '2026-01-15'],
      ['https://c.example', PERSON, 'Since 2026-01-15', '2026-01-15'],
      ['https://d.example', PERSON, 'Record missing since 2026-01-15', '2026-01-15'],
    ])
    assert.ok(html.includes(`href="${await personPath(app)}"`))
    const found = await visitPage(app, `${PATH}?search=HTTPS://b`, { cookie })
    assert.deepEqual(
      rowsOf(found.html).map(([name]) => name),
      ['https://b.example'],
    )
    const none = await visitPage(app, `${PATH}?search=ftp`, { cookie })
    assert.match(none.html, /No site matches/)
    assert.equal(rowsOf((await visitPage(app, `${PATH}?search=`, { cookie })).html).length, 4)
  })

  it('are all shown once, page by page, also those of one origin', async () => {
    await using app = await makeApp()
    const cookie = await signInOperator(app)
    await write(
      app,
      `WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 119)
      INSERT INTO users (id, email, plan, created_at)
      SELECT 'id-' || n, n || '@example.com', 'free', 0 FROM n;
      INSERT INTO sites (id, user_id, name, host, created_at)
      SELECT 'site-' || id, id, 'https://shop.example', 'shop.example', 0 FROM users
      WHERE id LIKE 'id-%'`,
    )
    const owners: (string | undefined)[] = []
    for (let path: string | undefined = PATH; path !== undefined; ) {
      const { status, html } = await visitPage(app, path, { cookie })
      assert.equal(status, 200)
      owners.push(...rowsOf(html).map(([, owner]) => owner))
      path = nextOf(html)
    }
    assert.equal(owners.length, 120)
    assert.equal(new Set(owners).size, 120)
  })

  it('refuse queries that they do not understand', async () => {
    await using app = await makeApp()
    const cookie = await signInOperator(app)
    const long = 'x'.repeat(501)
    for (const query of [
      'after=',
      'after=x',
      'after=a%20b%20c',
      `after=${long}`,
      `search=${long}`,
    ]) {
      assert.equal((await visitPage(app, `${PATH}?${query}`, { cookie })).status, 400, query)
    }
    for (const query of ['after=a%20b', 'search=%00', 'search=%25']) {
      assert.equal((await visitPage(app, `${PATH}?${query}`, { cookie })).status, 200, query)
    }
  })
})
