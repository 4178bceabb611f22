import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { stopByProgram, stopLinkIn } from '../contact/one-click.ts'
import { readColumn } from '../support/database/sql.ts'
import { visitPage } from '../support/scene/pages.ts'
import {
  BASE,
  BOB,
  MAILS,
  RECEIVERS,
  type SignedUp,
  usageMailsScene,
} from '../support/scene/usage-mails.ts'

const { app, mail, ada, begin, count, invite, submitLink } = usageMailsScene()

const Listed = v.object({ receivers: v.array(v.object({ id: v.string() })) })

/** The addresses that get mails about Ada's usage. */
const receivers = () =>
  readColumn(app, 'SELECT email FROM usage_receivers WHERE confirmed_at IS NOT NULL')

/** Bob agrees, and gets a first mail. */
async function mailBob(session: SignedUp, key: string) {
  await submitLink(await invite(session))
  await session.send('PUT', MAILS, { thresholds: [50, 100] })
  await count(app, key, 5)
  const mails = [await mail.next(), await mail.next()]
  const own = mails.find(({ to }) => to[0] === BOB) ?? assert.fail()
  return { mails, own, stop: stopLinkIn(own) ?? assert.fail() }
}

describe('the link that stops mails about usage', () => {
  it('says whose usage it is, and needs no account', async () => {
    const { session, key } = await begin()
    const { mails, own, stop } = await mailBob(session, key)
    assert.ok(own.headers.includes('Subject: ada@example.com has used 50% of the requests'))
    assert.equal(/no more of them: (http\S+)/.exec(own.text)?.[1], stop)
    assert.deepEqual(mails.map(stopLinkIn).toSorted(), [stop, null])
    const { html } = await visitPage(app, stop.replace(BASE, ''))
    assert.match(html, /bob@shop\.example gets mails about the requests of ada@example\.com/)
    assert.match(html, /Get no more of them/)
    assert.deepEqual(await receivers(), [BOB], 'opened by a scanner')
    for (let copy = 0; copy < 2; copy++) assert.equal(await stopByProgram(app, stop), 200)
    assert.equal((await submitLink(stop)).status, 200)
    await count(app, key, 5)
    const mailed = await readColumn(app, 'SELECT email FROM cap_notices WHERE percent = 100')
    assert.deepEqual(mailed, ['ada@example.com'])
    const stops = (await ada.audit()).filter(({ action }) => action === 'stop_usage_mails')
    assert.equal(stops.length, 1)
  })

  it('cannot be made from what a key that only reads shows', async () => {
    const { session, key } = await begin()
    const { stop } = await mailBob(session, key)
    const reader = await app.makeKey({ scopes: ['account:read'] })
    const listed = await app.send('GET', MAILS, { key: reader })
    const [id = assert.fail()] = v.parse(Listed, listed.body).receivers.map((one) => one.id)
    assert.equal((await app.send('DELETE', `${RECEIVERS}/${id}`, { key: reader })).status, 403)
    const [proof = ''] = stop.split('.').slice(-1)
    for (const guess of [id, `usage.${id}`, `usage.${id}.`, `usage.${id}.${proof.slice(1)}A`]) {
      const link = new URL(stop)
      link.searchParams.set('id', guess)
      assert.equal(await stopByProgram(app, String(link)), 200)
      const submitted = await submitLink(String(link))
      assert.deepEqual(await receivers(), [BOB], guess)
      assert.match(submitted.html, /stops no mails/)
      assert.match((await visitPage(app, `${link.pathname}${link.search}`)).html, /stops no mails/)
    }
  })

  it('ends with the mails: one of before does not stop those that the receiver agrees to later', async () => {
    const { session, key } = await begin()
    const { stop } = await mailBob(session, key)
    await submitLink(stop)
    assert.deepEqual(await receivers(), [])
    app.pass(6 * DAY_MS)
    await session.send('GET', MAILS)
    app.pass(DAY_MS)
    await submitLink(await invite(session))
    assert.deepEqual(await receivers(), [BOB])
    const { html } = await submitLink(stop)
    assert.deepEqual(await receivers(), [BOB])
    assert.match(html, /stops no mails/)
  })
})
