import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { UsageStats } from '../../lib/contract/account/account-schemas.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { NOON } from '../support/helpers.ts'
import { freshScene } from '../support/scene/scene.ts'
import { signUp } from '../support/sign-in.ts'

const LOCATE = '/v1/ip/81.2.69.160'

let key: string
const app = freshScene({}, async () => {
  key = await app.makeKey({ plan: 'pro' })
})

async function usage(from = app): Promise<UsageStats> {
  return v.parse(UsageStats, (await from.send('GET', '/v1/account/me/usage', { key })).body)
}

async function ask(times: number, headers: Record<string, string> = { 'x-api-key': key }) {
  for (let n = 0; n < times; n++) await app.send('GET', LOCATE, { headers })
}

describe('GET /v1/account/me/usage', () => {
  it('contains only zeros for a user without requests', async () => {
    const { dailyUsage, keys, ...rest } = await usage()
    assert.deepEqual(rest, { totalKeys: 1, activeKeys: 1, totalRequests: 0, monthlyCap: 100_000 })
    assert.equal(dailyUsage.length, 30)
    assert.deepEqual(dailyUsage[0], { date: '2025-12-17', requests: 0 })
    assert.deepEqual(dailyUsage[29], { date: '2026-01-15', requests: 0 })
    const [lastUsedAt, limit] = [new Date(NOON).toISOString(), 600]
    const shown = { keyPrefix: key.slice(0, 16), keyName: 'test', isActive: true, lastUsedAt }
    assert.deepEqual(keys, [{ ...shown, rateLimitRemaining: limit, rateLimitMax: limit }])
  })

  it('is exact at the time of the request, before and after the counters are written', async () => {
    await ask(3)
    assert.equal((await usage()).totalRequests, 3)
    await app.services.ledger.flush()
    assert.equal((await usage()).totalRequests, 3)
    await ask(2)
    const { totalRequests, dailyUsage, keys } = await usage()
    assert.equal(totalRequests, 5)
    assert.deepEqual(dailyUsage.at(-1), { date: '2026-01-15', requests: 5 })
    assert.equal(keys[0]?.rateLimitRemaining, 595)
    await using again = await app.restart()
    assert.equal((await usage(again)).totalRequests, 5)
    // On PostgreSQL, the first process may have kept some for requests to come.
    const remaining = (await usage(again)).keys[0]?.rateLimitRemaining ?? 0
    const least = '$client' in app.services.db ? 595 : 585
    assert.ok(remaining >= least && remaining <= 595, `${remaining} remain`)
  })

  it('adds up all keys, including revoked ones, and sessions', async () => {
    const other = await app.makeKey({ plan: 'pro' })
    const token = await signUp(app, 'kim@example.com')
    await ask(1)
    await ask(2, { 'x-api-key': other })
    await ask(4, { authorization: `Bearer ${token}` })
    assert.equal((await usage()).totalRequests, 3)
    const Keys = v.array(v.looseObject({ id: v.string(), prefix: v.string() }))
    const list = v.parse(Keys, (await app.send('GET', '/v1/account/me/keys', { key })).body)
    const id = list.find(({ prefix }) => other.startsWith(prefix))?.id
    await app.send('DELETE', `/v1/account/me/keys/${id}`, { key })
    const { totalKeys, totalRequests, dailyUsage } = await usage()
    assert.deepEqual([totalKeys, totalRequests, dailyUsage.at(-1)?.requests], [1, 3, 3])
    const headers = { authorization: `Bearer ${token}` }
    const { body } = await app.send('GET', '/v1/account/me/usage', { headers })
    assert.equal(v.parse(UsageStats, body).totalRequests, 4)
  })

  it('covers the month, and the last 30 days', async () => {
    await ask(2)
    app.pass(16 * DAY_MS)
    await ask(1)
    app.pass(DAY_MS)
    assert.equal(new Date(app.services.now()).toISOString().slice(0, 10), '2026-02-01')
    await ask(5)
    const { totalRequests, dailyUsage } = await usage()
    assert.equal(totalRequests, 5)
    const used = dailyUsage.filter(({ requests }) => requests > 0)
    assert.deepEqual(used, [
      { date: '2026-01-15', requests: 2 },
      { date: '2026-01-31', requests: 1 },
      { date: '2026-02-01', requests: 5 },
    ])
    app.pass(29 * DAY_MS)
    const later = (await usage()).dailyUsage
    assert.deepEqual(later[0], { date: '2026-02-01', requests: 5 })
  })

  it('counts expired keys as inactive', async () => {
    await app.makeKey({ plan: 'pro', expiresAt: NOON })
    const { totalKeys, activeKeys, keys } = await usage()
    assert.deepEqual([totalKeys, activeKeys], [2, 1])
    assert.equal(keys.filter(({ isActive }) => !isActive).length, 1)
  })
})
