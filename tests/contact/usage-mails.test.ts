import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { openDb } from '../../lib/db/open.ts'
import { HOUR_MS } from '../../lib/parts/durations.ts'
import { makeOlder } from '../support/database/older-database.ts'
import { readColumn, readRows, readValue, write } from '../support/database/sql.ts'
import type { TestApp } from '../support/helpers.ts'
import { codeOf } from '../support/helpers.ts'
import { plansFile } from '../support/plans-file.ts'
import { freshMailScene } from '../support/scene/mail.ts'
import { visitPage } from '../support/scene/pages.ts'
import { nextLink } from '../support/sign-in.ts'

const MAILS = '/v1/account/me/usage/mails'
const RECEIVERS = '/v1/account/me/usage/receivers'
const BOB = 'bob@shop.example'

const { app, mail } = freshMailScene({ MERIDIAN_PLANS: plansFile() })
const ada = app.user('ada')

/** Ada has signed up, and has a key of a plan with a cap of 10 requests. */
async function begin() {
  const session = await ada.signUpByMail(mail)
  const key = await app.makeKey({ plan: 'tiny' })
  await app.services.mails.retry()
  while (mail.left() > 0) await mail.next()
  return { session, key }
}

async function count(at: TestApp, key: string, requests: number): Promise<void> {
  for (let n = 0; n < requests; n++) await at.send('GET', '/v1/ip/81.2.69.160', { key })
  await at.services.ledger.flush()
}

/** The mails about usage that were queued: receiver and share. */
const queued = (at: TestApp = app) =>
  readRows(at, 'SELECT email, percent FROM cap_notices ORDER BY created_at, percent, email')

/** Adds the receiver. Returns the path of the link in the mail. */
async function invite(session: Awaited<ReturnType<typeof begin>>['session'], email = BOB) {
  const added = await session.send('POST', RECEIVERS, { email })
  assert.equal(added.status, 200, added.text)
  const { pathname, search } = await nextLink(mail)
  return `${pathname}${search}`
}

const submitLink = (link: string) => {
  const { pathname, searchParams } = new URL(link, 'http://localhost')
  return visitPage(app, pathname, { form: Object.fromEntries(searchParams) })
}

describe('the thresholds of mails about usage', () => {
  it('decide when mails come, once each, and over restarts', async () => {
    const { session, key } = await begin()
    const set = await session.send('PUT', MAILS, { thresholds: [50, 30, 30] })
    assert.deepEqual(set.body, { thresholds: [30, 50], receivers: [] })
    await count(app, key, 4)
    const next = await app.restart()
    await count(next, key, 4)
    assert.deepEqual(await queued(next), [
      ['ada@example.com', 30],
      ['ada@example.com', 50],
    ])
    const logged = (await ada.audit()).map(({ action, detail }) => `${action}: ${detail}`)
    assert.ok(logged.includes('set_usage_mails: 80 %, 100 % to 30 %, 50 %'), logged.join())
    assert.ok(logged.includes('near_cap: 50 % of 10 requests'), logged.join())
    assert.ok(logged.includes('near_cap: 80 % of 10 requests'), 'in the log in any case')
  })

  it('that use has passed already are mailed at the next request, once', async () => {
    const { session, key } = await begin()
    await count(app, key, 6)
    assert.deepEqual(await queued(), [])
    await session.send('PUT', MAILS, { thresholds: [50] })
    await count(app, key, 1)
    await count(app, key, 1)
    assert.deepEqual(await queued(), [['ada@example.com', 50]])
  })

  it('below one that was reached in the period are not mailed any more', async () => {
    const { session, key } = await begin()
    await count(app, key, 8)
    await session.send('PUT', MAILS, { thresholds: [50] })
    await count(app, key, 1)
    assert.deepEqual(await queued(), [['ada@example.com', 80]])
  })

  it('may be none', async () => {
    const { session, key } = await begin()
    await session.send('PUT', MAILS, { thresholds: [] })
    await count(app, key, 11)
    assert.deepEqual(await queued(), [])
  })

  it('are at most five, from 1 to 100, and set by keys with full access only', async () => {
    const { session } = await begin()
    for (const thresholds of [[0], [101], [1.5], [1, 2, 3, 4, 5, 6], ['80']]) {
      const { status } = await session.send('PUT', MAILS, { thresholds })
      assert.equal(status, 400, String(thresholds))
    }
    const scoped = await app.makeKey({ scopes: ['account:write'] })
    const refused = await app.send('PUT', MAILS, { key: scoped, body: { thresholds: [] } })
    assert.equal(codeOf(refused), 'INSUFFICIENT_SCOPE')
  })
})

describe('a further receiver of mails about usage', () => {
  it('gets one mail, and those about usage only after agreeing', async () => {
    const { session, key } = await begin()
    const link = await invite(session)
    await count(app, key, 8)
    assert.deepEqual(await queued(), [['ada@example.com', 80]])
    const page = await visitPage(app, link)
    assert.match(page.html, /ada@example\.com/)
    const isConfirmed = 'SELECT count(*) FROM usage_receivers WHERE confirmed_at IS NOT NULL'
    assert.equal(Number(await readValue(app, isConfirmed)), 0, 'opening the link changes nothing')
    for (let copy = 0; copy < 2; copy++) assert.equal((await submitLink(link)).status, 200)
    await count(app, key, 2)
    assert.deepEqual((await queued()).slice(1), [
      ['ada@example.com', 100],
      [BOB, 100],
    ])
    const actions = (await ada.audit()).map(({ action }) => action)
    assert.equal(actions.filter((action) => action === 'confirm_usage_receiver').length, 1)
    assert.doesNotMatch(JSON.stringify(await ada.audit()), /bob@/)
  })

  it('is told whose usage it is, and can stop the mails without an account', async () => {
    const { session, key } = await begin()
    await submitLink(await invite(session))
    await session.send('PUT', MAILS, { thresholds: [50, 100] })
    await count(app, key, 5)
    const mails = [await mail.next(), await mail.next()]
    const own = mails.find(({ to }) => to[0] === BOB) ?? assert.fail()
    assert.ok(own.headers.includes('Subject: ada@example.com has used 50% of the requests'))
    const stop = /http\S+\/usage-mails\/stop\?id=\S+/.exec(own.text)?.[0] ?? assert.fail(own.text)
    const { pathname, search } = new URL(stop)
    assert.match((await visitPage(app, `${pathname}${search}`)).html, /Get no more of them/)
    for (let copy = 0; copy < 2; copy++) assert.equal((await submitLink(stop)).status, 200)
    await count(app, key, 5)
    const receivers = await readColumn(app, 'SELECT email FROM cap_notices WHERE percent = 100')
    assert.deepEqual(receivers, ['ada@example.com'])
  })

  it('is asked once, and again only after the link has expired', async () => {
    const { session } = await begin()
    const link = await invite(session)
    await session.send('POST', RECEIVERS, { email: 'BOB@shop.example' })
    await app.services.mails.retry()
    assert.equal(mail.left(), 0)
    app.pass(HOUR_MS)
    assert.equal((await visitPage(app, link)).status, 404)
    assert.equal((await submitLink(link)).status, 404)
    assert.notEqual(await invite(session), link)
  })

  for (const end of ['stopped', 'removed']) {
    it(`gets no mail once ${end}, even if an operator queues those that failed again`, async () => {
      const { session, key } = await begin()
      await submitLink(await invite(session))
      await session.send('PUT', MAILS, { thresholds: [20, 30, 40, 50] })
      await count(app, key, 5)
      const states = ['waiting', 'dead', 'kept', 'delivered']
      for (const [at, state] of states.entries()) {
        await write(
          app,
          `UPDATE cap_notices SET state = '${state}' WHERE percent = ${20 + 10 * at}`,
        )
      }
      const id = await readValue(app, 'SELECT id FROM usage_receivers')
      const { status } =
        end === 'stopped'
          ? await visitPage(app, '/app/usage-mails/stop', { form: { id: String(id) } })
          : await session.send('DELETE', `${RECEIVERS}/${id}`)
      assert.equal(status, end === 'stopped' ? 200 : 204)
      const left = `SELECT email, state FROM cap_notices WHERE email = '${BOB}'`
      assert.deepEqual(await readRows(app, left), [[BOB, 'delivered']])
    })
  }

  it('can be removed, with its link', async () => {
    const { session } = await begin()
    const link = await invite(session)
    const id = await readValue(app, 'SELECT id FROM usage_receivers')
    assert.equal((await session.send('DELETE', `${RECEIVERS}/${id}`)).status, 204)
    assert.equal((await session.send('DELETE', `${RECEIVERS}/${id}`)).status, 404)
    assert.equal((await submitLink(link)).status, 404)
  })

  it('of another account cannot be removed', async () => {
    const { session } = await begin()
    await invite(session)
    const id = await readValue(app, 'SELECT id FROM usage_receivers')
    const eve = await app.user('eve').signUpByMail(mail)
    assert.equal((await eve.send('DELETE', `${RECEIVERS}/${id}`)).status, 404)
  })

  it('is one of five, and not the user', async () => {
    const { session } = await begin()
    const own = await session.send('POST', RECEIVERS, { email: 'Ada@example.com' })
    assert.equal(own.status, 400)
    const add = (n: number) => session.send('POST', RECEIVERS, { email: `bob${n}@shop.example` })
    const all = await Promise.all([1, 2, 3, 4, 5, 6, 7].map(add))
    assert.equal(all.filter(({ status }) => status === 200).length, 5)
    assert.equal(all.filter(({ status }) => status === 400).length, 2)
    assert.equal(Number(await readValue(app, 'SELECT count(*) FROM usage_receivers')), 5)
  })
})

describe('the page of mails about usage', () => {
  it('shows what is wrong at the field, with what was typed', async () => {
    await begin()
    const refused = await ada.submit('/app/usage/mails', { thresholds: '50, 200' })
    assert.equal(refused.status, 400)
    assert.match(refused.html, /value="50, 200"/)
    assert.match(refused.html, /id="thresholds-problem"/)
    const saved = await ada.submit('/app/usage/mails', { thresholds: '100 50%' })
    assert.equal(saved.location, '/app/usage/mails?done=set')
    assert.match((await ada.visit('/app/usage/mails')).html, /value="50, 100"/)
  })
})

describe('an upgrade to thresholds that can be set', () => {
  it('keeps the counts, and which notices were given', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'meridian-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const file = makeOlder(
      folder,
      40,
      `INSERT INTO usage_by_period (user_id, period_start, requests, warned, overage,
         overage_reported, warned_cap, spent, spent_at, warned_units)
       VALUES ('ada', 1, 9, 80, 2, 1, 10, 0.5, 7, 3);
       INSERT INTO cap_notices (id, channel, user_id, email, threshold, requests, state, created_at,
         queued_at, due_at, attempts) VALUES ('1', 'mail', 'ada', 'a@example.com', 'near_cap', 10,
         'waiting', 1, 1, 1, 0)`,
    )
    const { $client } = openDb(file)
    t.after(() => $client.close())
    const read = (sql: string) => $client.prepare(sql).raw().all()
    assert.deepEqual(
      read(`SELECT user_id, period_start, requests, warned, overage, overage_reported, warned_cap,
        spent, spent_at, warned_units FROM usage_by_period`),
      [['ada', 1, 9, 80, 2, 1, 10, 0.5, 7, 3]],
    )
    assert.deepEqual(read('SELECT id, percent, receiver_id FROM cap_notices'), [['1', 80, null]])
    const trigger =
      "INSERT INTO usage_by_period (user_id, period_start, requests) VALUES ('x', 1, 1)"
    assert.equal($client.prepare(trigger).run().changes, 0, 'counts of nobody are dropped')
  })
})
