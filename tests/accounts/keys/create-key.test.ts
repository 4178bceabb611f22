import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { isKeyText } from '../../../lib/access/api-key.ts'
import { ApiKeyCreated } from '../../../lib/contract/account/account-schemas.ts'
import { ApiErrorBody } from '../../../lib/contract/common.ts'
import { SCOPES } from '../../../lib/contract/operation.ts'
import { codeOf, NOON, withoutAccountLimit } from '../../support/helpers.ts'
import { sharedScene } from '../../support/scene/scene.ts'
import { words } from '../../support/words.ts'
import { lookUp, newOwner, ORIGIN } from './key-owner.ts'

const app = sharedScene({ replace: withoutAccountLimit })

describe('POST /v1/account/me/keys', () => {
  it('creates a secret key with full access that works at once', async () => {
    const owner = await newOwner(app, { plan: 'free' })
    const { rawKey, ...created } = await owner.created({ name: 'server' })
    assert.ok(isKeyText(rawKey))
    const shown = { prefix: rawKey.slice(0, 16), name: 'server', type: 'secret', scopes: null }
    assert.deepEqual(created, { id: created.id, ...shown })
    assert.equal(await lookUp(app, rawKey), 200)
    const [, info] = await owner.list({ key: rawKey })
    assert.deepEqual([info?.id, info?.expiresAt], [created.id, '2027-01-15T12:00:00.000Z'])
  })

  it('writes to the audit log, and never shows the text of the key again', async () => {
    const owner = await newOwner(app)
    const { id, rawKey } = await owner.created({ name: 'server' })
    const [row] = await owner.audited('create_key')
    const by = { app: 'api', actorLabel: owner.key.slice(0, 16), createdAt: NOON }
    const target = { targetType: 'api_key', targetId: id, detail: 'server' }
    assert.deepEqual(row, { ...row, ...by, ...target })
    const shown = JSON.stringify([row, await owner.list()])
    assert.equal(shown.includes(rawKey.slice(16)), false)
  })

  it('creates a publishable key with its origins, without duplicates', async () => {
    const owner = await newOwner(app)
    const allowedOrigins = ['HTTPS://App.Example:443', ORIGIN]
    const created = await owner.created({ type: 'publishable', allowedOrigins })
    assert.match(created.rawKey, /^pk_live_/)
    assert.deepEqual([created.scopes, created.allowedOrigins], [['geo:read'], [ORIGIN]])
    assert.equal(await lookUp(app, created.rawKey, ORIGIN), 200)
    assert.equal(await lookUp(app, created.rawKey, 'https://other.example'), 403)
  })

  it('takes null for scopes and origins, as a key shows them', async () => {
    const owner = await newOwner(app)
    const created = await owner.created({ scopes: null, allowedOrigins: null })
    assert.deepEqual([created.type, created.scopes], ['secret', null])
    const narrow = await newOwner(app, { scopes: ['account:write'] })
    assert.equal(codeOf(await narrow.create({ scopes: null })), 'INSUFFICIENT_SCOPE')
  })

  it('stores scopes once each in a fixed order, with location:read as geo:read', async () => {
    const owner = await newOwner(app)
    const scopes = ['billing:read', 'location:read', 'geo:read', 'billing:read']
    assert.deepEqual((await owner.created({ scopes })).scopes, ['geo:read', 'billing:read'])
    assert.deepEqual((await owner.list())[1]?.scopes, ['geo:read', 'billing:read'])
  })

  it('stores names without surrounding blanks, but with any other character', async () => {
    const owner = await newOwner(app)
    const names = ['  my key ', 'Ключ 🔑', "O'Brien; --", 'x'.repeat(100)]
    for (const name of names) assert.equal((await owner.created({ name })).name, name.trim())
    assert.equal((await owner.created({ name: 'half \ud83d' })).name, 'half \ufffd')
    const listed = (await owner.list()).slice(1).map(({ name }) => name)
    assert.deepEqual(listed, [...names.map((name) => name.trim()), 'half \ufffd'])
  })

  const publishable = { type: 'publishable', allowedOrigins: [ORIGIN] }
  const bad = {
    'no name': { name: undefined },
    'an empty name': { name: '' },
    'a name of blanks': { name: ' \t\n\u3000' },
    'a name that is too long': { name: 'x'.repeat(101) },
    'a name with a line break': { name: 'two\nlines' },
    'a name with a zero byte': { name: 'nul \u0000.' },
    'a field that is misspelt': { scope: ['geo:read'] },
    'an unknown type': { type: 'public' },
    'an empty list of scopes': { scopes: [] },
    'an unknown scope': { scopes: ['geo:write'] },
    'scopes that are not a list': { scopes: 'geo:read' },
    'origins on a secret key': { allowedOrigins: [ORIGIN] },
    'no origins on a publishable key': { type: 'publishable' },
    'null as origins of a publishable key': { type: 'publishable', allowedOrigins: null },
    'null as scopes of a publishable key': { ...publishable, scopes: null },
    'an empty list of origins': { ...publishable, allowedOrigins: [] },
    '21 origins': { ...publishable, allowedOrigins: Array(21).fill(ORIGIN) },
    'other scopes on a publishable key': { ...publishable, scopes: ['geo:read', 'account:read'] },
  }
  it('refuses a body that does not describe a key, and creates none', async () => {
    const owner = await newOwner(app)
    for (const [what, body] of Object.entries(bad)) {
      assert.equal(codeOf(await owner.create(body)), 'BAD_REQUEST', what)
    }
    assert.equal((await owner.list()).length, 1)
  })

  it('quotes the origin that is not a pattern', async () => {
    const owner = await newOwner(app)
    for (const pattern of words('https://*.com http://app.example https://app.example/path *')) {
      const answer = await owner.create({ ...publishable, allowedOrigins: [ORIGIN, pattern] })
      assert.equal(codeOf(answer), 'BAD_REQUEST')
      const { message } = v.parse(ApiErrorBody, answer.body).error
      assert.ok(message.startsWith('allowedOrigins: ') && message.includes(`"${pattern}"`), message)
    }
  })
})

describe('creating a key with another credential', () => {
  const publishable = { type: 'publishable', allowedOrigins: [ORIGIN] }
  const cases = [
    [['account:write'], { scopes: ['account:write'] }, 201],
    [['account:write'], { scopes: ['account:read'] }, 403],
    [['account:write'], { scopes: ['account:write', 'geo:read'] }, 403],
    [['account:write'], {}, 403],
    [['account:write'], publishable, 403],
    [['geo:read', 'account:write'], { scopes: ['location:read'] }, 201],
    [['geo:read', 'account:write'], publishable, 201],
    [SCOPES, { scopes: SCOPES }, 201],
    // Full access also includes scopes that are added later.
    [SCOPES, {}, 403],
    [null, {}, 201],
    [null, { scopes: ['billing:write'] }, 201],
  ] as const
  for (const [scopes, body, status] of cases) {
    it(`with ${scopes ?? 'full access'}: ${JSON.stringify(body)} is answered ${status}`, async () => {
      const owner = await newOwner(app, { scopes })
      const answer = await owner.create(body)
      assert.equal(answer.status, status)
      if (status === 403) assert.equal(codeOf(answer), 'INSUFFICIENT_SCOPE')
      assert.equal((await owner.list(await owner.signIn())).length, status === 201 ? 2 : 1)
    })
  }

  it('is refused to a publishable key, from any origin', async () => {
    const owner = await newOwner(app, { type: 'publishable', origins: [ORIGIN] })
    for (const headers of [{}, { origin: ORIGIN }]) {
      const answer = await owner.create({ scopes: ['geo:read'] }, { key: owner.key, headers })
      assert.equal(codeOf(answer), 'INSUFFICIENT_SCOPE')
    }
  })

  it('is allowed to a session, with any scopes', async () => {
    const owner = await newOwner(app, { scopes: ['geo:read'] })
    const session = await owner.signIn()
    assert.equal((await owner.created({}, session)).scopes, null)
    assert.deepEqual((await owner.created({ scopes: SCOPES }, session)).scopes, SCOPES)
    const labels = (await owner.audited('create_key')).map(({ actorLabel }) => actorLabel)
    assert.deepEqual(labels, [owner.email, owner.email])
  })
})

describe('the number of keys', () => {
  it('is exactly the limit of the plan when 50 are created at once', async () => {
    const owner = await newOwner(app, { plan: 'starter' })
    for (let n = 0; n < 2; n++) await owner.created({})
    const callers = [await owner.signIn(), { key: owner.key }]
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => owner.create({}, callers[n % 2])),
    )
    const made = answers.filter(({ status }) => status === 201)
    assert.equal(made.length, 2, 'three of the five keys existed before')
    for (const { body } of made) {
      assert.equal((await owner.list({ key: v.parse(ApiKeyCreated, body).rawKey })).length, 5)
    }
    const refused = answers.filter((answer) => !made.includes(answer)).map(codeOf)
    assert.deepEqual([...new Set(refused)], ['KEY_LIMIT_REACHED'])
    assert.equal((await owner.audited('create_key')).length, 4)
  })

  it('counts expired keys, and leaves room for another once one is revoked', async () => {
    const owner = await newOwner(app, { plan: 'free' })
    await app.makeKey({ email: owner.email, plan: 'free', expiresAt: NOON })
    assert.equal(codeOf(await owner.create({})), 'KEY_LIMIT_REACHED')
    const [, expired] = await owner.list()
    await owner.revoke(expired?.id ?? '')
    await owner.created({})
  })

  it('grows with the plan', async () => {
    const owner = await newOwner(app, { plan: 'free' })
    await owner.created({})
    assert.equal(codeOf(await owner.create({})), 'KEY_LIMIT_REACHED')
    await app.makeKey({ email: owner.email, plan: 'pro' })
    await owner.created({})
  })
})
