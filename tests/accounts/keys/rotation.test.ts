import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import * as v from 'valibot'
import { ApiKeyCreated } from '../../../lib/contract/account/account-schemas.ts'
import { DAY_MS, HOUR_MS } from '../../../lib/parts/durations.ts'
import { codeOf, NOON } from '../../support/helpers.ts'
import { sharedScene } from '../../support/scene/scene.ts'
import { KEYS, lookUp, newOwner, ORIGIN } from './key-owner.ts'

const app = sharedScene()
beforeEach(() => app.setClock(NOON))

const HOUR = { gracePeriodSeconds: 3600 }
const AT_ONCE = { gracePeriodSeconds: 0 }

function createdBy(answer: Awaited<ReturnType<typeof app.send>>) {
  assert.equal(answer.status, 201, answer.text)
  return v.parse(ApiKeyCreated, answer.body)
}

describe('POST /v1/account/me/keys/{keyId}/rotate', () => {
  it('gives a new key that may do the same, and ends the old one after the grace period', async () => {
    const owner = await newOwner(app)
    const old = await owner.created({ name: 'web', scopes: ['geo:read', 'account:read'] })
    const next = createdBy(await owner.rotate(old.id, HOUR))
    const { rawKey, id, prefix, ...same } = next
    assert.deepEqual(same, { name: 'web', type: 'secret', scopes: old.scopes })
    assert.notEqual(id, old.id)
    const statuses = async () => [await lookUp(app, old.rawKey), await lookUp(app, rawKey)]
    assert.deepEqual(await statuses(), [200, 200])
    const shown = (await owner.list()).find((key) => key.id === old.id)
    assert.equal(shown?.isActive, true)
    assert.equal(shown?.expiresAt, new Date(NOON + HOUR_MS).toISOString())
    app.setClock(NOON + HOUR_MS - 1)
    assert.deepEqual(await statuses(), [200, 200])
    app.setClock(NOON + HOUR_MS)
    assert.deepEqual(await statuses(), [401, 200])
    assert.equal(prefix, rawKey.slice(0, 16))
  })

  it('lets the old key work for a day without a body, and not at all if that is asked for', async () => {
    const owner = await newOwner(app)
    const [one, two] = [await owner.created({}), await owner.created({})]
    createdBy(await owner.rotate(one.id))
    createdBy(await owner.rotate(two.id, AT_ONCE))
    assert.deepEqual([await lookUp(app, one.rawKey), await lookUp(app, two.rawKey)], [200, 401])
    assert.equal(
      (await owner.list()).some(({ id }) => id === two.id),
      false,
    )
    app.setClock(NOON + DAY_MS)
    assert.equal(await lookUp(app, one.rawKey), 401)
  })

  it('refuses grace periods below 0, over 30 days and in parts of seconds', async () => {
    const owner = await newOwner(app)
    const { id } = await owner.created({})
    for (const gracePeriodSeconds of [-1, 30 * 86_400 + 1, 0.5, '60', null]) {
      assert.equal(codeOf(await owner.rotate(id, { gracePeriodSeconds })), 'BAD_REQUEST')
    }
    createdBy(await owner.rotate(id, { gracePeriodSeconds: 30 * 86_400 }))
  })

  it('keeps the origins of a publishable key', async () => {
    const owner = await newOwner(app)
    const old = await owner.created({ type: 'publishable', allowedOrigins: [ORIGIN] })
    const next = createdBy(await owner.rotate(old.id, AT_ONCE))
    assert.deepEqual([next.type, next.allowedOrigins], ['publishable', [ORIGIN]])
    assert.equal(await lookUp(app, next.rawKey, ORIGIN), 200)
    assert.equal(await lookUp(app, next.rawKey, 'https://evil.example'), 403)
  })

  it('is possible with all keys of the plan, which replaced keys do not count towards', async () => {
    const owner = await newOwner(app, { plan: 'free' })
    const { id } = await owner.created({})
    let last = id
    for (let turn = 0; turn < 3; turn++) last = createdBy(await owner.rotate(last, HOUR)).id
    assert.equal((await owner.list()).filter(({ isActive }) => isActive).length, 5)
    assert.equal(codeOf(await owner.create({})), 'KEY_LIMIT_REACHED')
    await owner.revoke(last)
    await owner.created({})
  })

  it('has one effect if it is sent for the same key many times at once', async () => {
    const owner = await newOwner(app)
    const { id } = await owner.created({})
    for (const body of [HOUR, AT_ONCE]) {
      const { id: fresh } = await owner.created({})
      const answers = await Promise.all(Array.from({ length: 5 }, () => owner.rotate(fresh, body)))
      const good = answers.filter(({ status }) => status === 201)
      assert.equal(good.length, 1)
      for (const { status } of answers) assert.ok([201, 400, 404].includes(status), `${status}`)
    }
    createdBy(await owner.rotate(id, HOUR))
    assert.equal(codeOf(await owner.rotate(id, HOUR)), 'BAD_REQUEST')
    assert.equal(codeOf(await owner.renew(id)), 'BAD_REQUEST')
  })

  it('refuses expired, revoked and foreign keys', async () => {
    const [owner, other] = [await newOwner(app), await newOwner(app)]
    const expired = await app.makeKey({ email: owner.email, expiresAt: NOON })
    const { id } = (await owner.list()).find(({ isActive }) => !isActive) ?? assert.fail()
    assert.equal(codeOf(await owner.rotate(id, HOUR)), 'BAD_REQUEST')
    assert.equal(await lookUp(app, expired), 401)
    const revoked = await owner.created({})
    await owner.revoke(revoked.id)
    const foreign = await other.created({})
    for (const key of [revoked, foreign]) {
      assert.equal(codeOf(await owner.rotate(key.id, HOUR)), 'NOT_FOUND')
    }
    assert.equal(await lookUp(app, foreign.rawKey), 200)
  })

  it('gives nobody a key that may do more than the one that asks', async () => {
    const owner = await newOwner(app)
    const narrow = await owner.created({ scopes: ['account:write', 'geo:read'] })
    const full = await owner.created({})
    const by = { key: narrow.rawKey }
    const wide = await owner.created({ scopes: ['geo:read', 'billing:write'] })
    for (const { id } of [full, wide]) {
      assert.equal(codeOf(await owner.rotate(id, HOUR, by)), 'INSUFFICIENT_SCOPE')
    }
    const page = await owner.created({ type: 'publishable', allowedOrigins: [ORIGIN] })
    createdBy(await owner.rotate(page.id, HOUR, by))
    // Itself: the answer is the last thing that the old key needs to read.
    createdBy(await owner.rotate(narrow.id, AT_ONCE, by))
    assert.equal(await lookUp(app, narrow.rawKey), 401)
    assert.equal((await owner.rotate(full.id, HOUR, await owner.signIn())).status, 201)
  })

  it('writes to the audit log which key replaces which, and until when, but no key', async () => {
    const owner = await newOwner(app)
    const old = await owner.created({ name: 'web' })
    const next = createdBy(await owner.rotate(old.id, HOUR))
    const [row, ...more] = await owner.audited('rotate_key')
    assert.deepEqual([row?.targetType, row?.targetId, more], ['api_key', old.id, []])
    const end = new Date(NOON + HOUR_MS).toISOString()
    assert.equal(row?.detail, `web: ${old.prefix} to ${next.prefix}, the old key ends ${end}`)
  })

  it('never makes a replaced key live longer, whatever the plan becomes', async () => {
    const owner = await newOwner(app, { plan: 'free' })
    const old = await owner.created({})
    createdBy(await owner.rotate(old.id, HOUR))
    await app.makeKey({ email: owner.email, plan: 'pro' })
    await owner.created({})
    app.setClock(NOON + HOUR_MS)
    assert.equal(await lookUp(app, old.rawKey), 401)
    // The next change of a key tidies up.
    await owner.created({})
    assert.equal(
      (await owner.list()).some(({ id }) => id === old.id),
      false,
    )
  })

  it('is limited to 100 replaced keys that still work', async () => {
    const owner = await newOwner(app)
    let { id } = await owner.created({})
    for (let turn = 0; turn < 100; turn++) {
      app.setClock(NOON + turn * 120_000)
      id = createdBy(await owner.rotate(id, { gracePeriodSeconds: 86_400 })).id
    }
    app.setClock(NOON + 100 * 120_000)
    assert.equal(codeOf(await owner.rotate(id, HOUR)), 'KEY_LIMIT_REACHED')
    const [oldest] = (await owner.list()).filter(({ name }) => name === 'made')
    await owner.revoke(oldest?.id ?? '')
    createdBy(await owner.rotate(id, HOUR))
  })
})

describe('expiresInDays', () => {
  const endOf = async (
    list: () => Promise<{ id: string; expiresAt: string | null }[]>,
    id: string,
  ) => (await list()).find((key) => key.id === id)?.expiresAt
  const createWith = (key: string, days: string) =>
    app.send('POST', `${KEYS}?expiresInDays=${days}`, { key, body: { name: 'made' } })
  const after = (days: number) => new Date(NOON + days * DAY_MS).toISOString()

  it('ends a key of any plan, and begins anew with renewal and rotation', async () => {
    const owner = await newOwner(app)
    const { id, rawKey } = createdBy(await createWith(owner.key, '30'))
    assert.equal(await endOf(owner.list, id), after(30))
    app.setClock(NOON + 10 * DAY_MS)
    await owner.renew(id)
    assert.equal(await endOf(owner.list, id), after(40))
    const next = createdBy(await owner.rotate(id, HOUR))
    assert.equal(await endOf(owner.list, next.id), after(40))
    app.setClock(NOON + 40 * DAY_MS)
    assert.deepEqual([await lookUp(app, rawKey), await lookUp(app, next.rawKey)], [401, 401])
  })

  it('is never later than the plan lets a key expire', async () => {
    const owner = await newOwner(app, { plan: 'free' })
    const { id } = createdBy(await createWith(owner.key, '3650'))
    assert.equal(await endOf(owner.list, id), after(365))
  })

  it('must be whole days, from 1 to 9999', async () => {
    const owner = await newOwner(app)
    for (const days of ['0', '1.5', '10000', '-3', '', 'soon']) {
      assert.equal(codeOf(await createWith(owner.key, days)), 'BAD_REQUEST')
    }
  })
})
