import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dayOf } from '../../lib/config/period.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { write } from '../support/database/sql.ts'
import type { Person } from '../support/scene/person.ts'
import { freshScene } from '../support/scene/scene.ts'
import { PERSON, pagesFrom, personPath } from './operator.ts'

const app = freshScene()
const olga = app.operator('olga')
const eve = app.user('eve')
const ada = app.user('ada')

const PATH = '/app/operate/usage'

function rowsOf(html: string, label: string): string[][] {
  const table = new RegExp(`aria-label="Table of ${label}">([\\s\\S]*?)</table>`).exec(html)?.[1]
  return [...(table ?? '').matchAll(/<tr[^>]*><th scope="row">.*?<\/tr>/gs)].map(([row]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) =>
      cell.replaceAll(/<[^>]*>/g, '').trim(),
    ),
  )
}

async function ask(person: Person, times: number) {
  for (let n = 0; n < times; n++) await person.lookUp()
  await app.services.ledger.flush()
}

describe('the usage of everybody', () => {
  it('shows requests by day, and users, keys and limits hit of a month', async () => {
    const [adas, eves] = [await ada.key({ plan: 'pro' }), await eve.key({ plan: 'free' })]
    const { requestsPerMinute } = app.services.plans.free
    await ask(ada, 20)
    await ask(eve, requestsPerMinute + 3)
    app.pass(20 * DAY_MS)
    await ask(ada, 1)
    const visit = async (query: string) => (await olga.visit(`${PATH}?${query}`)).html
    const january = await visit('month=2026-01')
    assert.match(
      january,
      new RegExp(`${requestsPerMinute + 23} requests of all users in January 2026`),
    )
    assert.match(january, /<option value="2026-01" selected="">January 2026</)
    const noon = rowsOf(january, 'requests per day').find(([day]) => day === '15 Jan')
    const counts = [requestsPerMinute + 20, 3, requestsPerMinute + 23].map(String)
    assert.deepEqual(noon, ['15 Jan', ...counts])
    const users = rowsOf(january, 'Users').map(([email, plan, ...n]) => [email, plan, n[0], n[2]])
    assert.deepEqual(users, [
      [PERSON, 'Pro', '20', '0'],
      ['eve@example.com', 'Free', String(requestsPerMinute + 3), '3'],
    ])
    assert.ok(january.includes(`href="${await personPath(ada)}"`))
    const keys = rowsOf(await visit('month=2026-01&list=keys'), 'Keys')
    const owned = keys.map(([key, email]) => [key, email])
    assert.deepEqual(owned, [
      [`test ${adas.slice(0, 16)}…`, PERSON],
      [`test ${eves.slice(0, 16)}…`, 'eve@example.com'],
    ])
    const rows = rowsOf(await visit('month=2026-01&list=limited'), 'Over a limit')
    const limited = rows.map(([email, plan, , , n]) => [email, plan, n])
    assert.deepEqual(limited, [['eve@example.com', 'Free', '3']])
    const february = await visit('split=endpoint')
    assert.match(february, /1 request of all users in February 2026/)
    assert.equal(rowsOf(february, 'requests per day').length, 4)
    assert.match(await visit('list=limited'), /No requests in this month/)
  })

  it('keeps the totals when a user is deleted, but not the user', async () => {
    await ada.key({ plan: 'pro' })
    await ask(ada, 5)
    const form = { email: PERSON }
    const done = await olga.submit(`${await personPath(ada)}/delete`, form)
    assert.equal(done.status, 303)
    const { html } = await olga.visit(PATH)
    assert.match(html, /5 requests of all users/)
    assert.deepEqual(rowsOf(html, 'Users'), [])
  })

  it('shows everybody once, page by page', async () => {
    const month = dayOf(Date.UTC(2026, 0))
    await write(
      app,
      `WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 119)
      INSERT INTO users (id, email, plan, created_at)
      SELECT 'id-' || n, n || '@example.com', 'free', 0 FROM n;
      INSERT INTO usage_by_month SELECT ${month}, id, 'key', 7, 0, 1 FROM users WHERE id LIKE 'id-%'`,
    )
    for (const [list, label] of [
      ['users', 'Users'],
      ['keys', 'Keys'],
      ['limited', 'Over a limit'],
    ] as const) {
      const rows = (await pagesFrom(`${PATH}?list=${list}`, olga)).flatMap((html) =>
        rowsOf(html, label),
      )
      const shown = rows.map((row) => row[list === 'keys' ? 1 : 0] ?? '')
      assert.equal(shown.length, 120, list)
      assert.equal(new Set(shown).size, 120, list)
    }
  })

  it('refuses queries that it does not understand', async () => {
    for (const query of ['month=2024-01', 'month=x', 'split=x', 'list=x', 'page=0', 'page=x']) {
      assert.equal((await olga.visit(`${PATH}?${query}`)).status, 400, query)
    }
    assert.equal((await olga.visit(`${PATH}?month=2025-02&page=9`)).status, 200)
  })
})
