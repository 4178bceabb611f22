import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import * as v from 'valibot'
import { insertAudit } from '../../lib/accounts/audit.ts'
import { findUserByEmail } from '../../lib/accounts/users.ts'
import { AuditList } from '../../lib/contract/account/account-schemas.ts'
import { write } from '../support/database/sql.ts'
import { clientOf, ON_POSTGRES } from '../support/database/test-database.ts'
import {
  codeOf,
  makeApp,
  NOON,
  recordingLog,
  type TestApp,
  withoutAccountLimit,
} from '../support/helpers.ts'
import { anyCharacter } from '../support/quick/any-character.ts'
import { sharedScene } from '../support/scene/scene.ts'

const AUDIT = '/v1/account/me/audit'
const SITES = '/v1/account/me/sites'

const app = sharedScene({ replace: withoutAccountLimit })

type Query = Readonly<Record<string, string>>

let users = 0
/** A new user with one audit entry per item of `details`, in that order. */
async function newCaller(details: readonly string[] = []) {
  const email = `user${users++}@example.com`
  const key = await app.makeKey({ email })
  const actorId = (await findUserByEmail(app.services.db, email))?.id ?? ''
  for (const detail of details) {
    const event = { app: 'api', actorId, action: 'create_key', targetType: 'api_key' } as const
    await insertAudit(app.services.db, { ...event, detail, createdAt: NOON }).run()
  }
  const ask = (query: Query = {}) =>
    app.send('GET', `${AUDIT}?${new URLSearchParams(query)}`, { key })
  const list = async (query?: Query) => v.parse(AuditList, (await ask(query)).body)
  const detailsOf = async (query?: Query) => (await list(query)).logs.map(({ detail }) => detail)
  return { key, actorId, ask, list, details: detailsOf }
}

describe('GET /v1/account/me/audit', () => {
  it('lists changes made through the API, newest first', async () => {
    const { key, actorId, list } = await newCaller()
    const created = await app.send('POST', SITES, { key, body: { name: 'https://a.example' } })
    const { id } = v.parse(v.object({ id: v.string() }), created.body)
    await app.send('DELETE', `${SITES}/${id}`, { key })
    const { logs, ...envelope } = await list()
    assert.deepEqual(envelope, { total: 2, limit: 50, offset: 0 })
    const target = { target_type: 'site', target_id: id, detail: 'https://a.example' }
    const by = { app: 'api', actor_id: actorId, actor_label: key.slice(0, 16) }
    const [deleted, made] = ['delete_site', 'create_site'].map((action) => {
      return { ...by, action, ...target, created_at: NOON / 1000 }
    })
    const entries = logs.map(({ id: _, ...entry }) => entry)
    assert.deepEqual(entries, [deleted, made])
  })

  it('is empty for a user who has changed nothing', async () => {
    const { list } = await newCaller()
    const nothing = { logs: [], total: 0 }
    assert.deepEqual(await list(), { ...nothing, limit: 50, offset: 0 })
    const later = await list({ offset: '7', limit: '3' })
    assert.deepEqual(later, { ...nothing, limit: 3, offset: 7 })
  })

  it('shows each user only their own entries, whatever they search for', async () => {
    const [one, two] = [await newCaller(['a1', 'a2']), await newCaller(['a2', 'a3'])]
    assert.deepEqual(await one.details(), ['a2', 'a1'])
    assert.deepEqual(await two.details(), ['a3', 'a2'])
    assert.deepEqual(await one.details({ search: 'a' }), ['a2', 'a1'])
    assert.deepEqual(await one.details({ action: 'create_key' }), ['a2', 'a1'])
    assert.deepEqual(await one.details({ action: 'create_key', search: 'a3' }), [])
    assert.equal((await one.list({ search: two.actorId })).total, 0)
  })

  it('returns every entry once to a client that reads page after page', async () => {
    const given = Array.from({ length: 230 }, (_, n) => `d${n}`)
    const { list } = await newCaller(given)
    const seen: (string | null)[] = []
    for (let offset = 0; offset < 300; offset += 100) {
      const { logs, total } = await list({ limit: '100', offset: String(offset) })
      assert.equal(total, 230)
      seen.push(...logs.map(({ detail }) => detail))
    }
    assert.deepEqual(seen, given.toReversed())
  })

  it('shows 50 entries by default, and reports the total beyond the end', async () => {
    const { list } = await newCaller(Array.from({ length: 60 }, () => 'x'))
    assert.equal((await list()).logs.length, 50)
    assert.equal((await list({ offset: '50' })).logs.length, 10)
    const beyond = await list({ offset: '999999999' })
    assert.deepEqual(beyond, { logs: [], total: 60, limit: 50, offset: 999_999_999 })
  })

  it('takes wildcards of SQL literally', async () => {
    const given = ['100%', '100', 'a_b', 'axb', 'a\\b', 'a%b', "it's"]
    const { details } = await newCaller(given)
    assert.deepEqual(await details({ search: '%' }), ['a%b', '100%'])
    assert.deepEqual(await details({ search: 'a_b' }), ['a_b'])
    assert.deepEqual(await details({ search: '\\' }), ['a\\b'])
    assert.deepEqual(await details({ search: 'A\\B' }), ['a\\b'])
    assert.deepEqual(await details({ search: "'" }), ["it's"])
    assert.deepEqual(await details({ search: '%%' }), [])
    assert.deepEqual(await details({ search: '\0' }), [])
    assert.deepEqual(await details({ action: 'create%' }), [])
    assert.deepEqual(await details({ action: 'create_ke_' }), [])
  })

  it('searches the action, the type and id of the target, and the detail, but not the actor', async () => {
    const { key, list } = await newCaller()
    const created = await app.send('POST', SITES, { key, body: { name: 'https://a.example' } })
    const { id } = v.parse(v.object({ id: v.string() }), created.body)
    for (const search of ['create_site', 'CREATE', 'site', id, id.slice(3, 9), 'a.EXAMPLE']) {
      assert.equal((await list({ search })).total, 1, search)
    }
    for (const search of [key.slice(0, 16), 'api', String(NOON / 1000), `${id}${id}`]) {
      assert.equal((await list({ search })).total, 0, search)
    }
  })

  it('matches the whole action, with its case', async () => {
    const { list } = await newCaller(['a', 'b'])
    assert.equal((await list({ action: 'create_key' })).total, 2)
    for (const action of ['create', 'CREATE_KEY', 'create_key ', 'create_key\na', 'login']) {
      assert.equal((await list({ action })).total, 0, action)
      assert.equal((await list({ action, search: 'a' })).total, 0, action)
    }
  })

  it('ignores an empty action or search', async () => {
    const { list } = await newCaller(['a', 'b'])
    assert.equal((await list({ action: '', search: '' })).total, 2)
    assert.equal((await list({ action: '', search: 'b' })).total, 1)
    assert.equal((await list({ action: 'create_key', search: '' })).total, 2)
  })

  const bad: readonly Query[] = [
    ...['0', '101', '-1', '', '1.5', '1e1', 'all'].map((limit) => ({ limit })),
    ...['-1', 'x', '9007199254740993'].map((offset) => ({ offset })),
    ...[{ action: 'a'.repeat(101) }, { search: 'a'.repeat(201) }],
  ]
  for (const query of bad) {
    it(`refuses ${JSON.stringify(query).slice(0, 40)}`, async () => {
      const { ask } = await newCaller()
      assert.equal(codeOf(await ask(query)), 'BAD_REQUEST')
    })
  }

  it('never fails, whatever the query', async () => {
    const { ask } = await newCaller(['a', '%', '"'])
    const text = fc.string({ unit: anyCharacter, maxLength: 210 })
    const query = fc.record(
      { action: text, search: text, limit: fc.string(), offset: fc.nat().map(String) },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(query, async (given) => {
        assert.ok([200, 400].includes((await ask(given)).status))
      }),
      { numRuns: 300 },
    )
  })
})

describe('an audit log that cannot be read', () => {
  const failures = {
    ...(!ON_POSTGRES && {
      'the database is closed': async ({ services }: TestApp) => {
        clientOf(services).close()
      },
    }),
    'its table is missing': (app: TestApp) =>
      write(app, 'ALTER TABLE audit_log RENAME TO elsewhere'),
  }
  for (const [why, fail] of Object.entries(failures)) {
    it(`answers 503 and is logged with the request id: ${why}`, async () => {
      const log = recordingLog()
      await using broken = await makeApp({ log })
      const key = await broken.makeKey()
      assert.equal((await broken.send('GET', AUDIT, { key })).status, 200)
      await fail(broken)
      const answer = await broken.send('GET', AUDIT, { key })
      assert.equal(answer.status, 503)
      assert.equal(codeOf(answer), 'SERVICE_UNAVAILABLE')
      assert.doesNotMatch(answer.text, /audit_log|database|open/)
      const [event, ...more] = log.events.filter(({ message }) => /audit/.test(message))
      assert.equal(event?.level, 'error')
      const Fields = v.object({ requestId: v.string(), err: v.instance(Error) })
      const { requestId } = v.parse(Fields, event?.fields)
      assert.equal(requestId, answer.headers.get('x-request-id'))
      assert.deepEqual(more, [])
    })
  }
})
