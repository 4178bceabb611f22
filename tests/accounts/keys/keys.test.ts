import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import * as v from 'valibot'
import { hashKey } from '../../../lib/access/api-key.ts'
import { ApiKeyInfo } from '../../../lib/contract/account/account-schemas.ts'
import { ApiErrorBody } from '../../../lib/contract/common.ts'
import { users } from '../../../lib/db/tables.ts'
import { listUsedKeys } from '../../../lib/usage/last-used.ts'
import { codeOf, makeApp, NOON } from '../../support/helpers.ts'
import { sharedScene } from '../../support/scene/scene.ts'
import { KEYS, lookUp, newOwner, ORIGIN } from './key-owner.ts'

const YEAR_LATER = '2027-01-15T12:00:00.000Z'

const app = sharedScene()
beforeEach(() => app.setClock(NOON))

describe('GET /v1/account/me/keys', () => {
  it('lists the keys of the caller, oldest first, and nobody else’s', async () => {
    const [owner] = [await newOwner(app), await newOwner(app)]
    const ids = (await owner.list()).map(({ id }) => id)
    for (const name of ['b', 'a', 'c']) ids.push((await owner.created({ name })).id)
    const keys = await owner.list()
    assert.deepEqual(
      keys.map(({ id, name }) => [id, name]),
      ['test', 'b', 'a', 'c'].map((name, at) => [ids[at], name]),
    )
  })

  it('shows everything about a key but its text', async () => {
    const { key } = await newOwner(app, { plan: 'free', scopes: ['account:read'] })
    const { body, text } = await app.send('GET', KEYS, { key })
    const [info] = v.parse(v.array(ApiKeyInfo), body)
    assert.match(info?.id ?? '', /^[0-9a-f]{32}$/)
    assert.deepEqual(info, {
      id: info?.id,
      prefix: key.slice(0, 16),
      name: 'test',
      type: 'secret',
      scopes: ['account:read'],
      allowedOrigins: null,
      isActive: true,
      createdAt: '2026-01-15T12:00:00.000Z',
      lastUsedAt: '2026-01-15T12:00:00.000Z',
      expiresAt: YEAR_LATER,
    })
    assert.equal(text.includes(key.slice(16)) || text.includes(hashKey(key)), false)
  })

  it('marks expired keys as inactive', async () => {
    const { email, list } = await newOwner(app)
    await app.makeKey({ email, expiresAt: NOON })
    await app.makeKey({ email, expiresAt: NOON + 1 })
    const active = (await list()).map(({ isActive }) => isActive)
    assert.deepEqual(active, [true, false, true])
  })
})

describe('lastUsedAt', () => {
  it('is null until the key is used, then the time of its latest use', async () => {
    const owner = await newOwner(app)
    const { rawKey } = await owner.created({})
    const lastUse = async () => (await owner.list())[1]?.lastUsedAt
    assert.equal(await lastUse(), null)
    app.setClock(NOON + 61_234)
    assert.equal(await lookUp(app, rawKey), 200)
    assert.equal(await lastUse(), '2026-01-15T12:01:01.234Z')
    await app.services.ledger.flush()
    assert.equal(await lastUse(), '2026-01-15T12:01:01.234Z', 'the time is stored')
    app.setClock(NOON)
    await lookUp(app, rawKey)
    assert.equal(await lastUse(), '2026-01-15T12:01:01.234Z', 'the time never moves back')
  })

  it('changes with every authenticated request, whatever the answer, and with no other', async () => {
    const owner = await newOwner(app)
    const reader = await owner.created({ scopes: ['account:read'] })
    const page = await owner.created({ type: 'publishable', allowedOrigins: [ORIGIN] })
    const uses = async () => (await owner.list()).map(({ lastUsedAt }) => lastUsedAt !== null)
    assert.equal(await lookUp(app, reader.rawKey), 403)
    assert.equal(await lookUp(app, page.rawKey, 'https://evil.example'), 403)
    assert.deepEqual(await uses(), [true, false, false])
    await owner.list({ key: reader.rawKey })
    const headers = { origin: ORIGIN }
    await app.send('GET', '/v1/ip/nonsense', { key: page.rawKey, headers })
    assert.deepEqual(await uses(), [true, true, true])
  })

  it('is stored when the service stops', async () => {
    await using stopped = await makeApp()
    await lookUp(stopped, await stopped.makeKey())
    await stopped.services[Symbol.asyncDispose]()
    const [user] = await stopped.otherDb.select().from(users).all()
    assert.ok(user)
    const stored = await listUsedKeys(stopped.otherDb, user.id)
    assert.deepEqual(
      stored.map((key) => key.lastUsedAt),
      [NOON],
    )
  })
})

describe('DELETE /v1/account/me/keys/{keyId}', () => {
  it('revokes the key at once: the next request with it is answered 401', async () => {
    const owner = await newOwner(app)
    const { id, rawKey } = await owner.created({ name: 'old' })
    assert.equal(await lookUp(app, rawKey), 200)
    const answers = await Promise.all([owner.revoke(id), owner.revoke(id)])
    const [revoked, again] = answers.toSorted((one, other) => one.status - other.status)
    assert.ok(revoked && again)
    assert.equal(await lookUp(app, rawKey), 401)
    assert.deepEqual([revoked.status, revoked.body], [200, { deleted: true }])
    assert.equal(codeOf(again), 'NOT_FOUND')
    assert.equal((await owner.list()).length, 1)
    const [row, ...more] = await owner.audited('revoke_key')
    assert.deepEqual([row?.targetType, row?.targetId, row?.detail], ['api_key', id, 'old'])
    assert.deepEqual(more, [])
  })

  it('lets a key revoke itself', async () => {
    const owner = await newOwner(app)
    const [self] = await owner.list()
    assert.equal((await owner.revoke(self?.id ?? '')).status, 200)
    assert.equal(codeOf(await app.send('GET', KEYS, { key: owner.key })), 'UNAUTHORIZED')
  })
})

describe('POST /v1/account/me/keys/{keyId}/renew', () => {
  it('extends a key of the free plan to a year from now', async () => {
    const owner = await newOwner(app, { plan: 'free' })
    const { id } = await owner.created({ name: 'old' })
    app.setClock(NOON + 1_000)
    const { status, body } = await owner.renew(id)
    assert.deepEqual([status, body], [200, { status: 'renewed' }])
    const ends = (await owner.list()).map(({ expiresAt }) => expiresAt)
    assert.deepEqual(ends, [YEAR_LATER, '2027-01-15T12:00:01.000Z'])
    const [row, ...more] = await owner.audited('renew_key')
    assert.deepEqual([row?.targetType, row?.targetId, row?.detail], ['api_key', id, 'old'])
    assert.deepEqual(more, [])
  })

  it('removes the expiry from a key of a paid plan', async () => {
    const owner = await newOwner(app, { plan: 'starter', expiresAt: NOON + 1 })
    const [self] = await owner.list()
    await owner.renew(self?.id ?? '')
    assert.equal((await owner.list())[0]?.expiresAt, null)
  })

  it('makes an expired key valid again at once, through another key', async () => {
    const owner = await newOwner(app)
    const expired = await app.makeKey({ email: owner.email, plan: 'free', expiresAt: NOON })
    assert.equal(await lookUp(app, expired), 401)
    const id = (await owner.list())[1]?.id ?? ''
    const itself = await app.send('POST', `${KEYS}/${id}/renew`, { key: expired })
    assert.equal(codeOf(itself), 'UNAUTHORIZED')
    await owner.renew(id)
    assert.equal(await lookUp(app, expired), 200)
    assert.equal((await owner.list())[1]?.isActive, true)
  })
})

describe('the start of the service', () => {
  it('fits the expiry of all keys to the plans that the file has now', async () => {
    const first = await makeApp()
    const paid = await first.makeKey({ email: 'paid@example.com', plan: 'pro', expiresAt: NOON })
    const key = await first.makeKey({ plan: 'free', expiresAt: null })
    await first.makeKey({ plan: 'free', expiresAt: NOON + 1 })
    await using app = await first.restart()
    assert.equal(await lookUp(app, paid), 200)
    const keys = v.parse(v.array(ApiKeyInfo), (await app.send('GET', KEYS, { key })).body)
    const ends = keys.map(({ expiresAt }) => expiresAt)
    assert.deepEqual(ends, [YEAR_LATER, '2026-01-15T12:00:00.001Z'])
  })
})

describe('a key that is not the caller’s', () => {
  it('is answered 404, like one that does not exist, and stays unchanged', async () => {
    const [{ key }, owner] = [await newOwner(app), await newOwner(app, { plan: 'free' })]
    const [foreign] = await owner.list()
    const others = ['0'.repeat(32), 'x', owner.key.slice(0, 16), "' OR 1=1 --", '\u0000', '%']
    const message = 'Key not found; it may have been revoked already'
    for (const id of [foreign?.id ?? '', ...others].map(encodeURIComponent)) {
      const removed = await app.send('DELETE', `${KEYS}/${id}`, { key })
      const renewed = await app.send('POST', `${KEYS}/${id}/renew`, { key })
      for (const { body } of [removed, renewed]) {
        const { error } = v.parse(ApiErrorBody, body)
        assert.deepEqual([error.code, error.message], ['NOT_FOUND', message])
      }
    }
    assert.deepEqual(await owner.list(), [foreign])
    assert.deepEqual(await owner.audited('revoke_key'), [])
    assert.deepEqual(await owner.audited('renew_key'), [])
  })
})
