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

const PATH = '/app/operate/sites'

interface Proof {
  readonly provenAt?: number
  readonly missingSince?: number
  readonly isFirst?: 1
}

async function addSite({ row }: Person, name: string, proof: Proof = {}) {
  const { provenAt = null, missingSince = null, isFirst = 0 } = proof
  await write(
    app,
    `INSERT INTO sites (id, user_id, name, host, created_at, proven_at, missing_since, is_first)
       VALUES (?, ?, ?, 'shop.example', ?, ?, ?, ?)`,
    crypto.randomUUID(),
    (await row()).id,
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

describe('the sites of everybody', () => {
  it('show their owners and proofs', async () => {
    await ada.key()
    await eve.key()
    await addSite(ada, 'https://a.example', { isFirst: 1 })
    await addSite(eve, 'https://b.example')
    await addSite(ada, 'https://c.example', { provenAt: NOON })
    await addSite(ada, 'https://d.example', { provenAt: 1, missingSince: NOON })
    const { status, html } = await olga.visit(PATH)
    assert.equal(status, 200)
    assert.deepEqual(rowsOf(html), [
      ['https://a.example', PERSON, 'None; registered first', '2026-01-15'],
      ['https://b.example', 'eve@example.com', 'None', '2026-01-15'],
      ['https://c.example', PERSON, 'Since 2026-01-15', '2026-01-15'],
      ['https://d.example', PERSON, 'Record missing since 2026-01-15', '2026-01-15'],
    ])
    assert.ok(html.includes(`href="${await personPath(ada)}"`))
    const found = await olga.visit(`${PATH}?search=HTTPS://b`)
    assert.deepEqual(
      rowsOf(found.html).map(([name]) => name),
      ['https://b.example'],
    )
    const none = await olga.visit(`${PATH}?search=ftp`)
    assert.match(none.html, /No site matches/)
    assert.equal(rowsOf((await olga.visit(`${PATH}?search=`)).html).length, 4)
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
    const owners: (string | undefined)[] = []
    for (let path: string | undefined = PATH; path !== undefined; ) {
      const { status, html } = await olga.visit(path)
      assert.equal(status, 200)
      owners.push(...rowsOf(html).map(([, owner]) => owner))
      path = nextOf(html)
    }
    assert.equal(owners.length, 120)
    assert.equal(new Set(owners).size, 120)
  })

  it('refuse queries that they do not understand', async () => {
    const long = 'x'.repeat(501)
    for (const query of [
      'after=',
      'after=x',
      'after=a%20b%20c',
      `after=${long}`,
      `search=${long}`,
    ]) {
      assert.equal((await olga.visit(`${PATH}?${query}`)).status, 400, query)
    }
    for (const query of ['after=a%20b', 'search=%00', 'search=%25']) {
      assert.equal((await olga.visit(`${PATH}?${query}`)).status, 200, query)
    }
  })
})
