import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import type { Answer } from '../support/contract-check.ts'
import { readColumn, readRows, readValue } from '../support/database/sql.ts'
import { codeOf, recordingLog } from '../support/helpers.ts'
import { plansFile } from '../support/plans-file.ts'
import { freshScene } from '../support/scene/scene.ts'

const LOCATE = '/v1/ip/81.2.69.160'
const log = recordingLog()

const app = freshScene({ log, env: { MERIDIAN_PLANS: plansFile() } }, async () => {
  log.events.length = 0
})
const ada = app.user('ada')

const Meta = v.object({ meta: v.object({ precision: v.string(), degraded: v.boolean() }) })

const metaOf = ({ body }: Answer) => v.parse(Meta, body).meta

describe('the monthly cap', () => {
  it('degrades the first request above it, but not the first of the next month', async () => {
    await ada.key({ plan: 'small' })
    const ask = () => ada.lookUp()
    for (let n = 0; n < 19; n++) await ask()
    assert.deepEqual(metaOf(await ask()), { precision: 'city', degraded: false })
    const reduced = await ask()
    assert.deepEqual(metaOf(reduced), { precision: 'country', degraded: true })
    const Country = v.looseObject({
      location: v.strictObject({
        continent: v.strictObject({ code: v.string(), name: v.string() }),
        country: v.strictObject({ code: v.literal('GB'), name: v.string() }),
      }),
      network: v.optional(v.undefined()),
    })
    v.parse(Country, reduced.body)
    app.setClock(Date.UTC(2026, 1, 1) - 1)
    assert.equal(metaOf(await ask()).degraded, true)
    app.pass(1)
    assert.equal(metaOf(await ask()).degraded, false)
  })

  it('is shared by the keys of a user', async () => {
    const keys = [await app.makeKey({ plan: 'tiny' }), await app.makeKey({ plan: 'tiny' })]
    const ask = (key = '') => app.send('GET', LOCATE, { key })
    for (let n = 0; n < 5; n++) for (const key of keys) await ask(key)
    for (const key of keys) assert.equal(metaOf(await ask(key)).degraded, true)
  })

  it('blocks both timezone endpoints, but not validation', async () => {
    const key = await ada.key({ plan: 'tiny' })
    for (let n = 0; n < 10; n++) await ada.lookUp()
    for (const path of [`${LOCATE}/timezone`, '/v1/ip/me/timezone']) {
      const answer = await app.send('GET', path, { key, from: '81.2.69.160' })
      assert.equal(codeOf(answer), 'PLAN_CAP_EXCEEDED')
    }
    assert.equal((await ada.lookUp('81.2.69.160/validation')).status, 200)
  })

  it('counts requests answered 200 or 404, and no others', async () => {
    await ada.key({ plan: 'free' })
    const userId = String(await readValue(app, 'SELECT id FROM users'))
    const counted = () =>
      app.services.meters.periodRequests({ userId, paid: null }, app.services.now())
    await ada.lookUp()
    await ada.lookUp('10.0.0.1')
    await ada.lookUp('81.2.69.160/timezone')
    await ada.lookUp('foo/validation')
    assert.equal(counted(), 4)
    await ada.lookUp('foo')
    await app.send('GET', LOCATE, { key: 'bad' })
    await ada.send('GET', '/v1/account/me')
    for (let n = 0; n < 6; n++) await ada.lookUp('foo')
    assert.equal((await ada.lookUp()).status, 429)
    assert.equal(counted(), 4)
  })

  it('is announced once at 80% and once at 100%, in the audit log and the log', async () => {
    await ada.key({ plan: 'tiny' })
    const notices = () =>
      readRows(app, "SELECT action, detail FROM audit_log WHERE action LIKE '%_cap' ORDER BY id")
    const ask = async (times: number) => {
      for (let n = 0; n < times; n++) await ada.lookUp()
      await app.services.ledger.flush()
    }
    await ask(7)
    assert.deepEqual(await notices(), [])
    const near = ['near_cap', '80% of 10 requests']
    await ask(1)
    assert.deepEqual(await notices(), [near])
    await ask(1)
    await ask(3)
    await ask(3)
    assert.deepEqual(await notices(), [near, ['reach_cap', '100% of 10 requests']])
    const warnings = log.events.filter(({ level }) => level === 'warn')
    const messages = warnings.map(({ message }) => message).slice(-2)
    const parts = ['80%', '100%'].map((part) => `a user has used ${part} of the monthly cap`)
    assert.deepEqual(messages, parts)
    app.setClock(Date.UTC(2026, 1, 1))
    await ask(8)
    assert.equal((await notices()).length, 3)
  })

  it('is announced again if a change of plan changes the cap', async () => {
    const notices = () =>
      readColumn(app, "SELECT detail FROM audit_log WHERE action LIKE '%_cap' ORDER BY id")
    const ask = async (plan: string, times: number) => {
      await ada.key({ plan })
      for (let n = 0; n < times; n++) await ada.lookUp()
      await app.services.ledger.flush()
    }
    await ask('tiny', 10)
    const ofTiny = ['80% of 10 requests', '100% of 10 requests']
    assert.deepEqual(await notices(), ofTiny)
    await ask('small', 5)
    assert.deepEqual(await notices(), ofTiny)
    await app.restart()
    await ask('small', 1)
    assert.deepEqual(await notices(), [...ofTiny, '80% of 20 requests'])
    await ask('small', 5)
    assert.deepEqual(await notices(), [...ofTiny, '80% of 20 requests', '100% of 20 requests'])
  })
})
