import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS, MINUTE_MS } from '../../lib/parts/durations.ts'
import { readRows, readValue } from '../support/database/sql.ts'
import { makeApp, recordingLog, type TestApp } from '../support/helpers.ts'
import { startLoopbackServer } from '../support/loopback-server.ts'
import { startMailServer } from '../support/mail-server.ts'
import { plansFile } from '../support/plans-file.ts'
import { freshMailScene } from '../support/scene/mail.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const PLANS = { MERIDIAN_PLANS: plansFile() }

const { app: mailing, mail: received } = freshMailScene(PLANS)

/** Counts requests of a key, and writes the counts. */
async function count(app: TestApp, key: string, requests: number): Promise<void> {
  for (let n = 0; n < requests; n++) await app.send('GET', '/v1/ip/81.2.69.160', { key })
  await app.services.ledger.flush()
}

async function rows(app: TestApp) {
  const sql = 'SELECT channel, threshold, state, attempts FROM cap_notices ORDER BY rowid'
  const found = await readRows(app, sql)
  return found.map(([channel, threshold, state, attempts]) => {
    return { channel, threshold, state, attempts }
  })
}

describe('notices that a user has reached the monthly cap', () => {
  it('are mailed to the user, once for each limit and period', async () => {
    const [app, mail] = [mailing, received]
    const key = await app.makeKey({ plan: 'tiny' })
    await count(app, key, 7)
    await app.services.notices.retry()
    assert.equal(mail.received(), 0)
    await count(app, key, 1)
    const near = await mail.next()
    assert.deepEqual(near.to, ['ada@example.com'])
    assert.ok(near.headers.includes('Subject: You have used 80% of your requests'))
    assert.match(near.text, /80% of the 10 requests/)
    assert.match(near.text, /http:\/\/127\.0\.0\.1:\d+\/app\/billing/)
    await count(app, key, 3)
    assert.match((await mail.next()).text, /all 10 requests/)
    await count(app, key, 3)
    await app.services.notices.retry()
    assert.equal(mail.received(), 2)
    app.pass(31 * DAY_MS)
    await count(app, key, 8)
    assert.match((await mail.next()).text, /80% of the 10 requests/)
  })

  it('are sent to the webhook of the operator, signed, with the user', async () => {
    const calls: { headers: Record<string, unknown>; body: string }[] = []
    await using hook = await startLoopbackServer(async (request, response) => {
      calls.push({ headers: request.headers, body: await text(request) })
      response.writeHead(204).end()
    })
    const hooked = { MERIDIAN_CONTACT: `${hook.origin}/hook`, MERIDIAN_CONTACT_SECRET: SECRET }
    await using app = await makeApp({ env: { ...PLANS, ...hooked } })
    const key = await app.makeKey({ plan: 'tiny' })
    await count(app, key, 10)
    await app.services.notices.retry()
    const events = calls.map(({ body }) => JSON.parse(body))
    const userId = await readValue(app, 'SELECT id FROM users')
    const types = events.map(({ type }) => type)
    assert.deepEqual(types, ['usage.near_cap', 'usage.reach_cap'])
    const { id, ...data } = events[0].data
    assert.deepEqual(data, { userId, email: 'ada@example.com', requests: 10 })
    assert.equal(events[0].timestamp, '2026-01-15T12:00:00.000Z')
    assert.equal(calls[0]?.headers['webhook-id'], id)
    assert.match(String(calls[0]?.headers['webhook-signature']), /^v1,/)
    const delivered = { channel: 'webhook', state: 'delivered', attempts: 1 }
    const expected = ['near_cap', 'reach_cap'].map((threshold) => ({ ...delivered, threshold }))
    assert.deepEqual(await rows(app), expected)
  })

  it('are tried again after a failure, by the next process as well, with the same Message-ID', async () => {
    let refuses = true
    const ids: string[] = []
    await using mail = await startMailServer({ answer: () => (refuses ? 'refuse' : 'take') })
    const log = recordingLog()
    const env = { ...PLANS, MERIDIAN_SMTP_URL: mail.url }
    const app = await makeApp({ env, log })
    const key = await app.makeKey({ plan: 'tiny' })
    await count(app, key, 8)
    await app.services.notices.retry()
    const failed = { channel: 'mail', threshold: 'near_cap', state: 'waiting', attempts: 1 }
    assert.deepEqual(await rows(app), [failed])
    const warned = log.events.filter(({ message }) => message.startsWith('cannot deliver a notice'))
    assert.equal(warned.length, 1)
    assert.doesNotMatch(JSON.stringify(warned), /ada/)
    refuses = false
    app.pass(MINUTE_MS)
    const next = await app.restart()
    const { headers } = await mail.next()
    ids.push(...headers.filter((line) => line.startsWith('Message-ID')))
    const id = await readValue(next, 'SELECT id FROM cap_notices')
    assert.deepEqual(ids, [`Message-ID: <${id}@localhost>`])
    await next.services.notices.retry()
    assert.deepEqual(await rows(next), [{ ...failed, state: 'delivered', attempts: 2 }])
    await next.close()
  })

  it('are not queued without a mail server or a webhook', async () => {
    await using app = await makeApp({ env: PLANS })
    await count(app, await app.makeKey({ plan: 'tiny' }), 10)
    assert.deepEqual(await rows(app), [])
  })

  it('are removed after a month', async () => {
    const app = mailing
    await count(app, await app.makeKey({ plan: 'tiny' }), 10)
    await app.services.notices.retry()
    assert.equal((await rows(app)).length, 1)
    app.pass(31 * DAY_MS)
    await app.restart()
    while ((await rows(app)).length > 0) await sleep(5)
  })
})
