import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { CHANGED_KEYS } from '../../lib/access/key-ring/load-keys.ts'
import { selectAllSites } from '../../lib/accounts/all-sites.ts'
import {
  type AuditOfAllQuery,
  readAuditOfAll,
  selectAuditOfAll,
} from '../../lib/accounts/audit-of-all.ts'
import {
  type PeopleQuery,
  readPeople,
  selectPeople,
  selectSignUps,
} from '../../lib/accounts/people.ts'
import { selectGroups } from '../../lib/billing/subscription/recurring-revenue.ts'
import { COUNT_FAILED } from '../../lib/contact/delivery-store.ts'
import { type LocalDb, openDb } from '../../lib/db/open.ts'
import { COUNTS as BILLING_COUNTS } from '../../lib/doctor/count-billing.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'
import {
  readDaysOfAll,
  readTopKeys,
  readTopUsers,
  selectDaysOfAll,
  selectTopKeys,
  selectTopUsers,
  selectUsersOfMonth,
} from '../../lib/usage/usage-of-all.ts'

const USERS = 10_000
const ENTRIES = 100_000

let db: LocalDb
before(() => {
  db = openDb(':memory:')
  db.$client.exec(`WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ${USERS - 1})
    INSERT INTO users (id, email, email_verified, plan, created_at, role, disabled_at)
    SELECT 'id-' || n, printf('user%05d@example.com', n), 1, iif(n % 10 = 0, 'pro', 'free'), n,
      iif(n % 5000 = 0, 'operator', 'user'), iif(n % 1000 = 1, 1, NULL) FROM n;
    INSERT INTO sites (id, user_id, name, host, created_at)
    SELECT 'site-' || id, id, 'https://' || email, email, 0 FROM users;
    WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ${ENTRIES - 1})
    INSERT INTO audit_log (app, actor_id, action, created_at)
    SELECT 'api', 'id-' || (n % ${USERS}), iif(n % 1000 = 0, 'delete_account', 'login'), n FROM n;
    WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 2)
    INSERT INTO usage_by_month SELECT n * 31, id, 'key', length(id) + n, 1, created_at % 100 = 0
    FROM n, users;
    WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 89)
    INSERT INTO usage_of_all SELECT n, operation.value, status.value, 1 FROM n,
      json_each('["locateAddress","getTimezone","listKeys"]') AS operation,
      json_each('[200,404,429]') AS status`)
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

describe('a change of keys', () => {
  it('reads the keys of the users who have changed, and no others', () => {
    const statement = { toSQL: () => ({ sql: CHANGED_KEYS, params: [0] }) }
    const plan = planOf(statement).join('\n')
    assert.match(plan, /SEARCH api_keys USING INDEX api_keys_by_user/)
    // The price has one row.
    assert.doesNotMatch(plan, /SCAN (?!overage_prices)/)
  })
})

const ANY = { action: '', actorId: '', from: null, to: null }
const NEWEST: AuditOfAllQuery = { ...ANY, before: Number.MAX_SAFE_INTEGER, limit: 51 }

const FIRST: PeopleQuery = { search: '', plan: '', status: 'all', after: '', limit: 51 }

/** Reads the sums of the month, and the counts of days that are not summed up. */
function assertOfMonth(plan: string): void {
  assert.match(plan, /SEARCH usage_by_month USING PRIMARY KEY \(month=\?\)/)
  assert.match(plan, /SEARCH usage_by_operation USING PRIMARY KEY \(\(day,user_id\)>\(\?,\?\)\)/)
  assert.doesNotMatch(plan, /SCAN (?!top|summed_usage|usage_of_months)/)
}

describe('the queries of the pages for operators', () => {
  it('read people in the order of an index', () => {
    const later = { after: 'user05000@example.com' }
    const pro = { plan: 'pro', ...later }
    const queries = [{}, later, { search: 'user09' }, pro, { status: 'unverified' } as const]
    for (const query of queries) assertIndexed(selectPeople(db, { ...FIRST, ...query }))
    const operators = assertIndexed(selectPeople(db, { ...FIRST, status: 'operators' }))
    assert.match(operators.join('\n'), /users_operators/)
    const disabled = assertIndexed(selectPeople(db, { ...FIRST, status: 'disabled' }))
    assert.match(disabled.join('\n'), /users_disabled/)
  })

  it('read sites in the order of an index', () => {
    const after = { name: 'https://user05000@example.com', id: 'site-id-5000' }
    const all = { search: '', after: null }
    for (const query of [all, { ...all, after }, { ...all, search: 'https://user09' }]) {
      const plan = assertIndexed(selectAllSites(db, { ...query, limit: 51 }))
      assert.match(plan.join('\n'), /sites_in_order/)
    }
  })

  it('read audit rows in the order of an index', () => {
    const time = { from: 50_000, to: 60_000 }
    const cases: [Partial<AuditOfAllQuery>, RegExp][] = [
      [{}, /audit_log USING INTEGER PRIMARY KEY/],
      [time, /audit_log USING INTEGER PRIMARY KEY[\s\S]*audit_log_by_time/],
      [{ action: 'login', ...time }, /audit_log_of_action/],
      [{ actorId: 'id-1', ...time }, /audit_log_by_(actor|text)/],
      [{ actorId: 'id-1', action: 'login' }, /audit_log_by_action/],
    ]
    for (const [query, index] of cases) {
      const plan = assertIndexed(selectAuditOfAll(db, { ...NEWEST, before: 90_000, ...query }))
      assert.match(plan.join('\n'), index)
    }
  })

  it('read usage of the chosen time alone', () => {
    const page = { month: 31, limit: 51, offset: 50 }
    for (const order of ['requests', 'limited'] as const)
      assertOfMonth(planOf(selectTopUsers(db, { ...page, order })).join('\n'))
    assertOfMonth(planOf(selectTopKeys(db, page)).join('\n'))
    const later = { month: 31, after: 'id-5', limit: 51 }
    const users = planOf(selectUsersOfMonth(db, later)).join('\n')
    assert.match(users, /SEARCH usage_by_month USING PRIMARY KEY \(month=\? AND user_id>\?\)/)
    const days = planOf(selectDaysOfAll(db, { from: 1, to: 30 }, 'operation')).join('\n')
    assert.match(days, /SEARCH usage_of_all USING PRIMARY KEY \(day>\? AND day<\?\)/)
  })

  it('read the figures of the first page from indexes', () => {
    const joined = assertIndexed(selectSignUps(db, 100 * DAY_MS)).join('\n')
    assert.match(joined, /SEARCH users USING COVERING INDEX users_by_time \(created_at>\?\)/)
    const worth = planOf(selectGroups(db))
    assert.deepEqual(worth, ['SCAN subscriptions USING COVERING INDEX subscriptions_by_price'])
    const failed = planOf({ toSQL: () => ({ sql: COUNT_FAILED, params: [] }) }).join('\n')
    assert.match(failed, /SEARCH inquiries USING COVERING INDEX inquiries_by_due \(state=\?\)/)
    assert.match(failed, /SEARCH cap_notices USING COVERING INDEX cap_notices_by_due/)
    const days = planOf(selectDaysOfAll(db, { from: 1, to: 2 }, 'status')).join('\n')
    assert.match(days, /SEARCH usage_of_all USING PRIMARY KEY \(day>\? AND day<\?\)/)
    const billing = planOf({ toSQL: () => ({ sql: BILLING_COUNTS, params: [] }) }).join('\n')
    assert.match(billing, /SEARCH processor_events USING COVERING INDEX processor_events_by_time/)
    assert.match(billing, /overage_reports USING (COVERING )?INDEX overage_reports_unsent/)
    assert.doesNotMatch(
      billing,
      /SCAN (?!subscriptions USING COVERING INDEX|CONSTANT ROW|overage_reports USING)/,
    )
  })

  it('find the same usage as a walk over all of it', async () => {
    const page = { month: 31, limit: USERS, offset: 0 }
    const users = await readTopUsers(db, { ...page, order: 'requests' })
    assert.equal(users.length, USERS)
    const wanted = users.map(({ userId }) => userId.length + 1)
    const found = users.map(({ requests }) => requests)
    const mostFirst = wanted.toSorted((one, other) => other - one)
    assert.deepEqual(found, mostFirst)
    assert.equal((await readTopUsers(db, { ...page, order: 'limited' })).length, USERS / 100)
    assert.equal((await readTopKeys(db, { ...page, offset: 9_990 })).length, 10)
    assert.equal((await readDaysOfAll(db, { from: 1, to: 30 }, 'status')).length, 30 * 3)
  })

  it('find the same audit rows as a walk over all of them', async () => {
    const count = async (query: Partial<AuditOfAllQuery>) =>
      (await readAuditOfAll(db, { ...NEWEST, limit: ENTRIES, ...query })).length
    assert.equal(await count({ from: 50_000, to: 60_000 }), 10_000)
    assert.equal(await count({ from: 50_000, to: 60_000, action: 'delete_account' }), 10)
    assert.equal(await count({ actorId: 'id-7' }), ENTRIES / USERS)
    assert.equal(await count({ to: 0 }), 0)
    assert.equal(await count({ from: ENTRIES }), 0)
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
