import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type PeopleQuery, readPeople, selectPeople } from '../../lib/accounts/people.ts'
import { type LocalDb, openDb } from '../../lib/db/open.ts'

const USERS = 10_000

let db: LocalDb
before(() => {
  db = openDb(':memory:')
  db.$client.exec(`WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ${USERS - 1})
    INSERT INTO users (id, email, email_verified, plan, created_at, role, disabled_at)
    SELECT 'id-' || n, printf('user%05d@example.com', n), 1, iif(n % 10 = 0, 'pro', 'free'), n,
      iif(n % 5000 = 0, 'operator', 'user'), iif(n % 1000 = 1, 1, NULL) FROM n;
    ANALYZE`)
})
after(() => db.$client.close())

interface Statement {
  toSQL(): { readonly sql: string; readonly params: readonly unknown[] }
}

/** How SQLite runs the statement, a step per line. */
function planOf(statement: Statement): string[] {
  const { sql, params } = statement.toSQL()
  const explain = db.$client.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
  return explain.all(...params).map(({ detail }) => detail)
}

function assertIndexed(statement: Statement): string[] {
  const plan = planOf(statement)
  assert.ok(plan.length > 0)
  for (const step of plan) {
    assert.doesNotMatch(step, /^SCAN|TEMP B-TREE/, `${step} of ${statement.toSQL().sql}`)
  }
  return plan
}

const FIRST: PeopleQuery = { search: '', plan: '', status: 'all', after: '', limit: 51 }

describe('the queries of the pages for operators', () => {
  it('read people in the order of an index', () => {
    const queries: Partial<PeopleQuery>[] = [
      {},
      { after: 'user05000@example.com' },
      { search: 'user09' },
      { plan: 'pro', after: 'user05000@example.com' },
      { status: 'unverified' },
    ]
    for (const query of queries) assertIndexed(selectPeople(db, { ...FIRST, ...query }))
    const operators = assertIndexed(selectPeople(db, { ...FIRST, status: 'operators' }))
    assert.match(operators.join('\n'), /users_operators/)
    const disabled = assertIndexed(selectPeople(db, { ...FIRST, status: 'disabled' }))
    assert.match(disabled.join('\n'), /users_disabled/)
  })

  it('find the same people as a walk over all of them', async () => {
    const count = async (query: Partial<PeopleQuery>) =>
      (await readPeople(db, { ...FIRST, limit: USERS, ...query })).length
    assert.equal(await count({}), USERS)
    assert.equal(await count({ plan: 'pro' }), USERS / 10)
    assert.equal(await count({ status: 'operators' }), 2)
    assert.equal(await count({ status: 'disabled' }), USERS / 1000)
    assert.equal(await count({ search: 'user09' }), 1000)
    assert.equal(await count({ after: 'user05000@example.com' }), USERS - 5001)
  })
})
