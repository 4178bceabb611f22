import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import * as v from 'valibot'
import { findUserByEmail } from '../../lib/accounts/users.ts'
import { dayOf } from '../../lib/config/period.ts'
import {
  USAGE_COLUMNS,
  type UsageColumn,
  UsageDetails,
  type UsageRow,
} from '../../lib/contract/account/usage-details.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { removeOldUsage } from '../../lib/usage/retention.ts'
import { readUsageDetails, selectUsage } from '../../lib/usage/usage-details.ts'
import { createKeyedLookUps } from '../../routes/request/keyed-look-ups.ts'
import { readRows, readValue, write } from '../support/database/sql.ts'
import { onlyOnSqlite } from '../support/database/test-database.ts'
import { NOON } from '../support/helpers.ts'
import { freshScene } from '../support/scene/scene.ts'
import type { SendOptions } from '../support/scene/send.ts'
import { signUp } from '../support/sign-in.ts'
import { words } from '../support/words.ts'

const PATH = '/v1/account/me/usage/details'
const KNOWN = '/v1/ip/81.2.69.160'
const UNKNOWN = '/v1/ip/10.0.0.1'

let key: string
const app = freshScene({}, async () => {
  key = await app.makeKey({ plan: 'pro' })
})
const kim = app.user('kim')

/** What is counted so far, by default of the user of `key`. */
async function details(query: string, sent: SendOptions = { key }): Promise<UsageDetails> {
  await app.services.ledger.flush()
  const { status, body, text } = await app.send('GET', `${PATH}?${query}`, sent)
  assert.equal(status, 200, text)
  return v.parse(UsageDetails, body)
}

async function ask(path: string, times = 1, sent: SendOptions = { key }) {
  for (let n = 0; n < times; n++) await app.send('GET', path, sent)
}

async function keyIds(sent: SendOptions = { key }): Promise<string[]> {
  const { body } = await app.send('GET', '/v1/account/me/keys', sent)
  return v.parse(v.array(v.looseObject({ id: v.string() })), body).map(({ id }) => id)
}

const byStatus = (rows: readonly UsageRow[]) =>
  rows.map(({ status, requests }) => `${status} ${requests}`)

describe('GET /v1/account/me/usage/details', () => {
  it('counts answers by operation and status, refused ones included', async () => {
    await ask(KNOWN, 3)
    await ask(UNKNOWN, 2)
    await ask('/v1/ip/nowhere')
    await ask(`${KNOWN}?fields=none`)
    await ask(`${KNOWN}/timezone`)
    const { rows, requests } = await details('by=operation,status')
    assert.deepEqual(rows, [
      { operation: 'getTimezone', status: 200, requests: 1 },
      { operation: 'locateAddress', status: 200, requests: 3 },
      { operation: 'locateAddress', status: 400, requests: 2 },
      { operation: 'locateAddress', status: 404, requests: 2 },
    ])
    assert.equal(requests, 8)
  })

  it('counts refusals of a known key, and none without a valid key', async () => {
    const scoped = await app.makeKey({ plan: 'pro', scopes: ['account:read'] })
    const origins = ['https://shop.example']
    const publishable = await app.makeKey({ plan: 'pro', type: 'publishable', origins })
    await ask(KNOWN, 1, { key: scoped })
    await ask(KNOWN, 2, { key: publishable })
    await ask(KNOWN, 1, { key: `${key.slice(0, -1)}x` })
    await ask(KNOWN)
    await ask(KNOWN, 1, {})
    const { rows } = await details('by=key,status&operation=locateAddress')
    assert.deepEqual(byStatus(rows).sort(), ['200 1', '403 1', '403 2'])
    assert.equal(new Set(rows.map((row) => row.key)).size, 3)
  })

  it('counts what a rate limit refuses', async () => {
    const free = await app.makeKey({ email: 'kim@example.com', plan: 'free' })
    const { requestsPerMinute } = app.services.plans.free
    await ask(KNOWN, requestsPerMinute + 2, { key: free })
    const { rows } = await details('by=status&operation=locateAddress', { key: free })
    assert.deepEqual(byStatus(rows), [`200 ${requestsPerMinute}`, '429 2'])
  })

  it('counts look-ups of the fast path in the same way', async () => {
    // PostgreSQL: the first request of a user, on the usual path, loads the counts.
    await ask(KNOWN, 1)
    const answer = createKeyedLookUps(app.services)
    const socket = { remoteAddress: '198.18.0.1' }
    const headers = { host: '127.0.0.1:8787', 'x-api-key': key }
    for (const url of [KNOWN, UNKNOWN, KNOWN]) {
      // On PostgreSQL, it leaves requests to the router while other nodes are asked.
      while (answer({ method: 'GET', url, headers, socket }) === null) await sleep(1)
    }
    const { rows } = await details('by=status&operation=locateAddress')
    assert.deepEqual(byStatus(rows), ['200 3', '404 1'])
  })

  it('filters by key and session, and by day', async () => {
    const token = await signUp(app, 'eve@example.com')
    const headers = { authorization: `Bearer ${token}` }
    const other = await app.makeKey({ email: 'eve@example.com', plan: 'pro' })
    await ask(KNOWN, 1, { key: other })
    app.pass(DAY_MS)
    await ask(KNOWN, 2, { headers })
    const [id = ''] = await keyIds({ headers })
    const by = (query: string) => details(`by=day,key,operation&${query}`, { headers })
    assert.deepEqual((await by(`key=${id}`)).rows, [
      { day: '2026-01-15', key: id, operation: 'locateAddress', requests: 1 },
    ])
    assert.deepEqual((await by('key=session&operation=locateAddress')).rows, [
      { day: '2026-01-16', key: 'session', operation: 'locateAddress', requests: 2 },
    ])
    assert.equal((await by('from=2026-01-16&operation=locateAddress')).requests, 2)
    assert.equal((await by('to=2026-01-15')).requests, 1)
    assert.equal((await details('')).requests, 0, 'nobody sees the requests of others')
  })

  it('does not count what the dashboard reads, but look-ups made there', async () => {
    await kim.visit('/app/usage')
    await kim.visit('/app/look-up?ip=81.2.69.160')
    await app.services.ledger.flush()
    const rows = await readRows(app, 'SELECT operation, status, requests FROM usage_by_operation')
    assert.deepEqual(rows, [['locateAddress', 200, 1]])
  })

  it('has a form in CSV', async () => {
    await ask(KNOWN, 2)
    await app.services.ledger.flush()
    const sent = { key, headers: { accept: 'text/csv' } }
    const { text, headers } = await app.send('GET', `${PATH}?by=status,day`, sent)
    assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
    assert.equal(text, 'day,status,requests\r\n2026-01-15,200,2\r\n')
  })

  it('refuses periods and columns that it does not have', async () => {
    for (const query of words(`
      from=2026-01-16&to=2026-01-15 from=2025-10-15&to=2026-01-15 from=2026-02-31 to=yesterday by=
      by=day,hour key=1 operation=a.b`)) {
      const { status } = await app.send('GET', `${PATH}?${query}`, { key })
      assert.equal(status, 400, query)
    }
    const { from, to } = await details('from=2025-10-16')
    assert.deepEqual([from, to], ['2025-10-16', '2026-01-15'])
    assert.equal((await details('')).from, '2025-12-17')
  })

  it('adds up to the same by any column, and look-ups to what the cap counts', async () => {
    const paths = [KNOWN, UNKNOWN, '/v1/ip/nowhere', `${KNOWN}/timezone`, '/v1/account/me']
    const Asked = fc.array(fc.tuple(fc.constantFrom(...paths), fc.nat(2)), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(Asked, async (asked) => {
        for (const [path, days] of asked) {
          app.pass(days * DAY_MS)
          await ask(path)
        }
        const sums = await sumsByColumn()
        assert.equal(new Set(sums).size, 1, sums.join())
        assert.equal(await lookUpsAnswered(), await countedForCap())
        app.setClock(NOON)
      }),
      { numRuns: 8 },
    )
  })
})

/** Read without a request, which would be counted itself. */
async function sumsByColumn(): Promise<number[]> {
  const { db, ledger } = app.services
  await ledger.flush()
  const userId = (await findUserByEmail(db, 'ada@example.com'))?.id ?? ''
  const [from, to] = [dayOf(NOON), dayOf(app.services.now())]
  const sumBy = async (column: UsageColumn) => {
    const { rows, requests } = await readUsageDetails(db, { userId, from, to, by: [column] })
    const sum = rows.reduce((all, row) => all + row.requests, 0)
    assert.equal(sum, requests)
    return sum
  }
  return Promise.all(USAGE_COLUMNS.map(sumBy))
}

async function lookUpsAnswered(): Promise<number> {
  await app.services.ledger.flush()
  const sql = `SELECT coalesce(sum(requests), 0) FROM usage_by_operation
    WHERE status IN (200, 404) AND operation IN ('locateAddress', 'getTimezone')`
  return Number(await readValue(app, sql))
}

async function countedForCap(): Promise<number> {
  const sql = 'SELECT coalesce(sum(look_ups), 0) FROM usage_by_operation'
  return Number(await readValue(app, sql))
}

describe('the stored counts', () => {
  it(
    'are found by an index, whatever is asked',
    onlyOnSqlite('reads the plans of SQLite'),
    async () => {
      const { db } = app.services
      const userId = (await findUserByEmail(db, 'ada@example.com'))?.id ?? ''
      for (const filter of [{}, { key: 'session' }, { operation: 'locateAddress' }]) {
        const wanted = { userId, from: 1, to: 90, by: ['day', 'status'], ...filter } as const
        const { sql, params } = selectUsage(db, wanted).toSQL()
        const plan = (await readRows(app, `EXPLAIN QUERY PLAN ${sql}`, ...params)).join('\n')
        assert.match(plan, /SEARCH usage_by_operation USING .*\(user_id=\? AND day>\? AND day<\?\)/)
        assert.doesNotMatch(plan, /SCAN/)
      }
    },
  )

  it('are removed after 92 days', async () => {
    const { db } = app.services
    await write(
      app,
      `WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1200)
      INSERT INTO usage_by_operation SELECT ${dayOf(NOON)} - n % 100, id, n,
        'locateAddress', 200, 1, 1, 0 FROM n, users`,
    )
    await removeOldUsage(db, NOON)
    const kept = await readRows(app, 'SELECT count(*), min(day) FROM usage_by_operation')
    assert.deepEqual(kept, [[92 * 12, dayOf(NOON) - 91]])
  })
})
