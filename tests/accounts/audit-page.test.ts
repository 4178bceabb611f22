import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type AuditEvent, insertAudit } from '../../lib/accounts/audit.ts'
import { readAuditPage } from '../../lib/accounts/audit-page.ts'
import type { AuditQuery } from '../../lib/contract/account/account-schemas.ts'
import { openDb, type SqliteDb } from '../../lib/db/open.ts'
import { createQueries, type Queries } from '../../lib/db/queries.ts'
import { NOON } from '../support/helpers.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = tempFolder()

function eventOf(actorId: string, change: Partial<AuditEvent> = {}): AuditEvent {
  return { app: 'api', actorId, action: 'login', createdAt: NOON, ...change }
}

async function dbWith(events: readonly AuditEvent[]): Promise<SqliteDb> {
  const db = openDb(':memory:')
  for (const event of events) await insertAudit(db, event).run()
  return db
}

const page = (db: Queries, actorId: string, query: Partial<AuditQuery> = {}) =>
  readAuditPage(db, actorId, { limit: 50, offset: 0, ...query })

const idsOf = ({ logs }: { logs: readonly { readonly id: number }[] }) => logs.map(({ id }) => id)

/** SQLite ignores case only for the letters A to Z. */
const foldCase = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())

function matches(event: AuditEvent, actorId: string, { action, search }: Partial<AuditQuery>) {
  const text = [event.action, event.detail, event.targetType, event.targetId]
  return (
    event.actorId === actorId &&
    (!action || event.action === action) &&
    (!search || foldCase(text.map((field) => field ?? '').join('\n')).includes(foldCase(search)))
  )
}

const ACTIONS = ['create_key', 'create_site', 'create', 'createxkey', 'login']
const word = fc.string({ unit: fc.constantFrom('a', 'A', 'b', 'Ä', '%', '_', '\\', '✓', ' ') })
const anyEvent = fc.record({
  app: fc.constant('api' as const),
  actorId: fc.constantFrom('ada', 'Ada', 'eve'),
  action: fc.constantFrom(...ACTIONS),
  targetType: fc.option(fc.constantFrom('site', 'api_key', 'create_key')),
  targetId: fc.option(word),
  detail: fc.option(word),
  createdAt: fc.constant(NOON),
})
const anyFilter = fc.record(
  {
    action: fc.constantFrom(...ACTIONS, '', 'CREATE_KEY', 'create_key\na', 'create%', 'nothing'),
    search: fc.oneof(word, fc.constantFrom('%', '_', 'CREATE', 'key', '\n', '\0', 'aaaaaaaaaab')),
  },
  { requiredKeys: [] },
)

describe('readAuditPage', () => {
  it('finds and counts matching entries, newest first, for any filter and page', async () => {
    // One database for all runs: the entries of earlier runs have other actors.
    const db = await dbWith([])
    let run = 0
    let written = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyEvent, { maxLength: 30 }),
        anyFilter,
        fc.integer({ min: 1, max: 7 }),
        fc.nat(35),
        async (entries, filter, limit, offset) => {
          run += 1
          const events = entries.map((entry) => ({ ...entry, actorId: `${entry.actorId} ${run}` }))
          for (const event of events) await insertAudit(db, event).run()
          const reader = `ada ${run}`
          const found = await page(db, reader, { ...filter, limit, offset })
          const first = written + 1
          written += events.length
          const expected = events
            .map((event, at) => ({ event, id: first + at }))
            .filter(({ event }) => matches(event, reader, filter))
            .map(({ id }) => id)
            .toReversed()
          assert.deepEqual(idsOf(found), expected.slice(offset, offset + limit))
          assert.equal(found.total, expected.length)
        },
      ),
      { numRuns: 200 },
    )
    db.$client.close()
  })

  it('returns every entry once to a client that reads page after page', async () => {
    const actors = ['ada', 'eve', 'ada', 'ada']
    const db = await dbWith(Array.from({ length: 400 }, (_, n) => eventOf(actors[n % 4] ?? '')))
    for (const filter of [{}, { action: 'login' }, { search: 'log' }]) {
      for (const limit of [1, 7, 100]) {
        const seen: number[] = []
        for (let offset = 0; offset <= 300; offset += limit) {
          const { logs, total } = await page(db, 'ada', { ...filter, limit, offset })
          assert.equal(total, 300)
          seen.push(...idsOf({ logs }))
        }
        assert.equal(seen.length, 300)
        const inOrder = [...new Set(seen)].toSorted((a, b) => b - a)
        assert.deepEqual(seen, inOrder)
      }
    }
  })

  it('returns each entry as written, with its time in seconds', async () => {
    const by = { app: 'dashboard', actorId: 'ada', actorLabel: 'ada@example.com' } as const
    const site = { targetType: 'site', targetId: 'one', detail: 'https://one.example' }
    const made = { ...by, action: 'create_site', ...site, createdAt: NOON + 1_999 }
    const db = await dbWith([made, eventOf('ada')])
    const nothing = { actor_label: null, target_type: null, target_id: null, detail: null }
    const { targetType, targetId, detail } = site
    assert.deepEqual((await page(db, 'ada')).logs, [
      { id: 2, app: 'api', actor_id: 'ada', action: 'login', created_at: NOON / 1000, ...nothing },
      {
        ...{ id: 1, app: 'dashboard', actor_id: 'ada', actor_label: 'ada@example.com' },
        ...{ action: 'create_site', target_type: targetType, target_id: targetId, detail },
        created_at: NOON / 1000 + 1,
      },
    ])
  })

  it('finds a text whose beginning repeats itself', async () => {
    const details = ['a'.repeat(300), `${'a'.repeat(300)}B`, 'ab', `${'a'.repeat(20)}b`, 'A%b']
    const db = await dbWith(details.map((detail) => eventOf('ada', { detail })))
    const found = async (search: string) => idsOf(await page(db, 'ada', { search }))
    assert.deepEqual(await found('ab'), [4, 3, 2])
    assert.deepEqual(await found(`${'a'.repeat(20)}b`), [4, 2])
    assert.deepEqual(await found(`${'A'.repeat(199)}b`), [2])
    assert.deepEqual(await found(`${'a'.repeat(20)}%b`), [])
  })

  it('ignores case only for the letters A to Z', async () => {
    const db = await dbWith(['BÜCHER', 'bücher'].map((detail) => eventOf('ada', { detail })))
    assert.deepEqual(idsOf(await page(db, 'ada', { search: 'Cher' })), [2, 1])
    assert.deepEqual(idsOf(await page(db, 'ada', { search: 'Bü' })), [2])
  })

  it('runs no second statement for the total if the page is not full', async () => {
    const db = await dbWith(Array.from({ length: 20 }, () => eventOf('ada')))
    const { queries, statements } = watch(db)
    assert.equal((await page(queries, 'ada')).total, 20)
    assert.equal(statements.length, 1)
  })

  it('counts correctly if another process writes between its reads', async () => {
    const file = join(folder, 'between.db')
    const [db, other] = [openDb(file), openDb(file)]
    const write = () => insertAudit(other, eventOf('ada')).run()
    for (let n = 0; n < 20; n++) await write()
    const before = await page(db, 'ada', { offset: 5, limit: 5 })
    const { queries, statements } = watch(db, write)
    const during = await page(queries, 'ada', { offset: 5, limit: 5 })
    assert.equal(statements.length, 3)
    // The first write comes before the first read, and shifts all entries by one.
    assert.equal(during.total, before.total + 1)
    const shifted = idsOf(before).map((id) => id + 1)
    assert.deepEqual(idsOf(during), shifted)
  })
})

describe('the statements of readAuditPage', async () => {
  const db = await dbWith(Array.from({ length: 20 }, () => eventOf('ada', { detail: 'a' })))
  const filters = {
    'no filter': {},
    'an action': { action: 'login' },
    'a text': { search: 'a' },
    'a text whose beginning repeats itself': { search: 'aaaaaaaaaa' },
    'a text and an action': { action: 'login', search: 'a' },
  }
  for (const [name, filter] of Object.entries(filters)) {
    it(`walk along an index without sorting: ${name}`, async () => {
      for (const { plan } of await explained(db, filter)) {
        assert.doesNotMatch(plan, /TEMP B-TREE|SCAN audit_log/)
        assert.match(plan, /SEARCH audit_log USING .*INDEX audit_log_by_\w+ \(actor_id=\? AND/)
      }
    })

    it(`read only the rows of the page: ${name}`, async () => {
      const counting = (await explained(db, filter)).filter(({ sql }) => sql.includes('count('))
      assert.ok(counting.length > 0)
      for (const { columnsOfRows } of counting) assert.equal(columnsOfRows, 0)
    })
  }
})

interface Opcode {
  readonly opcode: string
  readonly p1: number
  readonly p2: number
}

/** The query plans of the statements that read a page with this filter. */
async function explained(db: SqliteDb, filter: Partial<AuditQuery>) {
  const { queries, statements } = watch(db)
  await page(queries, 'ada', { ...filter, limit: 2, offset: 3 })
  const prepare = db.$client.prepare.bind(db.$client)
  const root = prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'audit_log'").pluck().get()
  return statements.map((sql) => {
    const values = Array.from({ length: sql.split('?').length - 1 }, () => 1)
    const steps = prepare<number[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...values)
    const codes = prepare<number[], Opcode>(`EXPLAIN ${sql}`).all(...values)
    const rows = codes.find(({ opcode, p2 }) => opcode === 'OpenRead' && p2 === root)?.p1
    return {
      sql,
      plan: steps.map(({ detail }) => detail).join('; '),
      columnsOfRows: codes.filter(({ opcode, p1 }) => opcode === 'Column' && p1 === rows).length,
    }
  })
}

/** Queries that call `before` ahead of each statement, and the texts of these statements. */
function watch({ engine }: SqliteDb, before: () => Promise<unknown> = async () => {}) {
  const statements: string[] = []
  const queries = createQueries(async (query, only) => {
    statements.push(query.sql)
    await before()
    return engine.execute(query, only)
  })
  return { queries, statements }
}
