import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHealth } from '../../lib/services/health.ts'

function setUp() {
  const state = { now: 1_000_000, uptime: 0, runs: 0, failing: false, isDatabaseAway: false }
  const check = () => {
    state.runs++
    if (state.failing) throw new Error('failed')
  }
  const checkDatabase = async () => {
    if (state.isDatabaseAway) throw new Error('failed')
  }
  const checks = { geolocation: check, database: checkDatabase }
  const [now, uptime] = [() => state.now, () => state.uptime]
  return { state, health: createHealth(checks, now, uptime) }
}

describe('health', () => {
  it('checks at most once a second', async () => {
    const { state, health } = setUp()
    for (let n = 0; n < 10; n++) await health.read()
    state.now += 999
    await health.read()
    assert.equal(state.runs, 1)
    state.now += 1
    await health.read()
    assert.equal(state.runs, 2)
  })

  it('checks again if the clock was set back', async () => {
    const { state, health } = setUp()
    await health.read()
    state.now -= 3_600_000
    await health.read()
    assert.equal(state.runs, 2)
  })

  it('is degraded while a check fails, and ok again after', async () => {
    const { state, health } = setUp()
    state.failing = true
    assert.equal((await health.read()).status, 'degraded')
    assert.deepEqual((await health.read()).checks, { geolocation: false, database: true })
    state.failing = false
    assert.equal((await health.read()).status, 'degraded', 'the result of this second is kept')
    state.now += 1_000
    assert.equal((await health.read()).status, 'ok')
  })

  it('is degraded as soon as the service stops, even if all checks pass', async () => {
    const { health } = setUp()
    assert.equal((await health.read()).status, 'ok')
    health.drain()
    assert.equal((await health.read()).status, 'degraded')
    assert.deepEqual((await health.read()).checks, { geolocation: true, database: true })
  })

  it('is ok for look-ups without the database, but not without look-ups', async () => {
    const { state, health } = setUp()
    state.isDatabaseAway = true
    assert.equal((await health.read()).status, 'degraded')
    const { status, checks } = await health.readLookUps()
    assert.deepEqual([status, checks], ['ok', { geolocation: true, database: false }])
    state.failing = true
    state.now += 1_000
    assert.equal((await health.readLookUps()).status, 'degraded')
  })

  it('is ok for look-ups while the database does not answer, without waiting for its check', async () => {
    const stalled = Promise.withResolvers<void>()
    const answers = [Promise.resolve(), stalled.promise]
    const state = { now: 1_000_000 }
    const database = async () => answers.shift()
    const health = createHealth({ geolocation: () => {}, database }, () => state.now)
    assert.equal((await health.read()).status, 'ok')
    state.now += 1_000
    const order: string[] = []
    const whole = health.read().then(() => order.push('whole'))
    const { status, checks } = await health.readLookUps()
    order.push('ready')
    assert.deepEqual([status, checks], ['ok', { geolocation: true, database: true }])
    stalled.resolve()
    await whole
    assert.deepEqual(order, ['ready', 'whole'])
  })

  it('is degraded for look-ups as soon as the service stops', async () => {
    const { health } = setUp()
    health.drain()
    assert.equal((await health.readLookUps()).status, 'degraded')
  })

  const durations = [
    [0, '0 seconds'],
    [1_000, '1 second'],
    [59_999, '59 seconds'],
    [60_000, '1 minute'],
    [3_599_999, '59 minutes'],
    [3_600_000, '1 hour'],
    [86_400_000 * 3 + 5, '3 days'],
  ] as const
  for (const [ms, text] of durations) {
    it(`shows ${ms} ms as ${text}`, async () => {
      const { state, health } = setUp()
      state.uptime = ms
      assert.equal((await health.read()).uptime, text)
    })
  }

  it('shows an uptime that does not follow the clock', async () => {
    const health = createHealth({ geolocation: () => {}, database: async () => {} }, () => -1)
    assert.match((await health.read()).uptime, /^\d+ (second|minute)s?$/)
    const { state, health: set } = setUp()
    state.now += 3_600_000
    assert.equal((await set.read()).uptime, '0 seconds')
  })
})
