import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { removeUnconfirmed } from '../../lib/contact/usage-receivers.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { readColumn, readRows, readValue, write } from '../support/database/sql.ts'
import type { TestApp } from '../support/helpers.ts'
import { codeOf } from '../support/helpers.ts'
import { visitPage } from '../support/scene/pages.ts'
import {
  BOB,
  MAILS,
  RECEIVERS,
  type SignedUp,
  usageMailsScene,
} from '../support/scene/usage-mails.ts'
import { PASSWORD, sendAuth } from '../support/sign-in.ts'
import { stopLinkOf } from './one-click.ts'

const { app, mail, ada, begin, count, invite, idOf, submitLink } = usageMailsScene()

/** The mails about usage that were queued: receiver and share. */
const queued = (at: TestApp = app) =>
  readRows(at, 'SELECT email, percent FROM cap_notices ORDER BY created_at, percent, email')

/** Stops the mails to Bob by their link. */
const stop = async () => submitLink(await stopLinkOf(app, BOB))

/** Day by day, since a session that is not used ends after a week. */
async function passWeek(session: SignedUp): Promise<void> {
  for (let day = 0; day < 7; day++) {
    app.pass(DAY_MS)
    await session.send('GET', MAILS)
  }
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
    assert.ok(logged.includes('set_usage_mails: 80%, 100% to 30%, 50%'), logged.join())
    assert.ok(logged.includes('near_cap: 50% of 10 requests'), logged.join())
    assert.ok(logged.includes('near_cap: 80% of 10 requests'), 'in the log in any case')
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

  it('that are reached at once are one mail, about the highest', async () => {
    const { session, key } = await begin()
    await session.send('PUT', MAILS, { thresholds: [20, 40, 60] })
    await count(app, key, 9)
    assert.deepEqual(await queued(), [['ada@example.com', 60]])
    const logged = (await ada.audit()).map(({ detail }) => detail)
    for (const percent of [20, 40, 60, 80]) {
      assert.ok(logged.includes(`${percent}% of 10 requests`), 'in the log in any case')
    }
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

  it('is asked once a week, however often the user adds and removes it', async () => {
    const { session } = await begin()
    const link = await invite(session)
    const again = { email: 'BOB@shop.example' }
    const { body } = await session.send('POST', RECEIVERS, again)
    for (let n = 0; n < 3; n++) {
      await session.send('DELETE', `${RECEIVERS}/${await idOf(BOB)}`)
      assert.equal((await visitPage(app, link)).status, 404, 'removed')
      assert.deepEqual((await session.send('POST', RECEIVERS, again)).body, body)
    }
    await app.services.mails.retry()
    assert.equal(mail.left(), 0)
    assert.equal((await visitPage(app, link)).status, 200, 'the first link works again')
    await passWeek(session)
    assert.equal((await visitPage(app, link)).status, 404)
    assert.equal((await submitLink(link)).status, 404)
    assert.notEqual(await invite(session), link)
  })

  it('that has stopped the mails is asked again a week later at the earliest', async () => {
    const { session, key } = await begin()
    await submitLink(await invite(session))
    await passWeek(session)
    await stop()
    const { body } = await session.send('POST', RECEIVERS, { email: BOB })
    assert.deepEqual(body, { id: await idOf(BOB), email: BOB, confirmed: false })
    await count(app, key, 8)
    assert.deepEqual(await queued(), [['ada@example.com', 80]])
    await app.services.mails.retry()
    while (mail.left() > 0) assert.deepEqual((await mail.next()).to, ['ada@example.com'])
    await passWeek(session)
    await invite(session)
  })

  it('gets at most three mails that ask, whoever sends them, and can sign up all the same', async () => {
    const statuses: number[] = []
    for (const name of ['ada', 'ben', 'cleo', 'dan']) {
      const session = await app.user(name).signUpByMail(mail)
      statuses.push((await session.send('POST', RECEIVERS, { email: BOB })).status)
      if (statuses.length <= 3) assert.match((await mail.next()).text, /\/usage-mails\?/)
    }
    assert.deepEqual(statuses, [200, 200, 200, 429])
    for (let mails = 0; mails < 5; mails++) {
      const body = { email: BOB, password: PASSWORD, name: 'Bob' }
      assert.equal((await sendAuth(app, '/sign-up/email', body)).status, 200)
    }
  })

  it('is forgotten a week after it was removed', async () => {
    const { session } = await begin()
    await submitLink(await invite(session))
    await session.send('DELETE', `${RECEIVERS}/${await idOf(BOB)}`)
    const left = async (now: number) => {
      await removeUnconfirmed(app.services.db, now).run()
      return readColumn(app, 'SELECT email FROM usage_receivers')
    }
    const end = app.services.now() + 7 * DAY_MS
    assert.deepEqual(await left(end - 1), [BOB])
    assert.deepEqual(await left(end), [])
  })

  const ends = {
    stopped: stop,
    removed: async () => ada.submit(`/app/usage/mails/receivers/${await idOf(BOB)}/remove`),
  }
  for (const [name, end] of Object.entries(ends)) {
    it(`gets no mail once ${name}, even if an operator queues those that failed again`, async () => {
      const { session, key } = await begin()
      await submitLink(await invite(session))
      await session.send('PUT', MAILS, { thresholds: [20, 30, 40, 50] })
      for (const requests of [2, 1, 1, 1]) await count(app, key, requests)
      await app.services.notices.retry()
      const states = ['waiting', 'dead', 'kept', 'delivered']
      for (const [at, state] of states.entries()) {
        await write(
          app,
          `UPDATE cap_notices SET state = '${state}', due_at = 9000000000000000 WHERE percent = ${20 + 10 * at}`,
        )
      }
      await end()
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
    const first = String(await readValue(app, 'SELECT email FROM usage_receivers'))
    await session.send('DELETE', `${RECEIVERS}/${await idOf(first)}`)
    assert.equal((await add(8)).status, 200, 'in the place of the one removed')
    const restored = await session.send('POST', RECEIVERS, { email: first })
    assert.equal(restored.status, 400)
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
