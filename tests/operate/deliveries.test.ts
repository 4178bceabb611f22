import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { insertCapNotice } from '../../lib/contact/cap-notices.ts'
import { insertInquiry, newInquiry } from '../../lib/contact/inquiry-store.ts'
import { accept, deliverDue, INQUIRY, inquiries } from '../contact/inquiry.ts'
import { readColumn, readValue, write } from '../support/database/sql.ts'
import { type AppOptions, makeApp, NOON, type TestApp } from '../support/helpers.ts'
import { startLoopbackServer } from '../support/loopback-server.ts'
import { startMailServer } from '../support/mail-server.ts'
import { closedAfterTest } from '../support/scene/freshly.ts'
import type { PageOptions } from '../support/scene/pages.ts'
import { actionsOf } from './operator.ts'

const closed = closedAfterTest()

const INQUIRIES = '/app/operate/inquiries'
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const NOTICES = '/app/operate/notices'

/** A service, and what its operator does on a page. */
async function open(page: string, env: AppOptions['env'] = {}) {
  // Signed in before: with a mail server, a new user has to confirm the address first.
  const before = await makeApp()
  await before.operator('olga').enter()
  const app = closed(await before.restart(env))
  const olga = app.operator('olga')
  return {
    app,
    show: async (query = '') => (await olga.visit(`${page}${query}`)).html,
    act: (path: string, form?: PageOptions['form']) => olga.submit(`${page}/${path}`, form),
    actions: async () => (await actionsOf(app)).map(({ action, target }) => [action, target]),
  }
}

/** A webhook that refuses calls until it is opened, and then counts them. */
async function startWebhook() {
  let isOpen = false
  const called = Promise.withResolvers<void>()
  const server = await startLoopbackServer((request, response) => {
    request.resume()
    response.writeHead(isOpen ? 204 : 500).end()
    if (isOpen) called.resolve()
  })
  return {
    env: { MERIDIAN_CONTACT: `${server.origin}/hook`, MERIDIAN_CONTACT_SECRET: SECRET },
    open: () => {
      isOpen = true
    },
    called: called.promise,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** Gives up on all inquiries, as the courier does after days. */
function giveUp(app: TestApp): Promise<void> {
  return write(app, "UPDATE inquiries SET state = 'dead', last_error = 'the answer is 500'")
}

describe('the page of inquiries', () => {
  it('says once, in the place of the list, why none come in', async () => {
    const { show } = await open(INQUIRIES, {})
    const html = await show()
    assert.match(html, /No inquiries<\/h2><p class="soft">MERIDIAN_CONTACT is not set: the contact/)
    assert.equal(html.match(/MERIDIAN_CONTACT/g)?.length, 1)
  })

  it('shows stored inquiries with their message, and that nothing delivers them', async () => {
    const { app, show, act, actions } = await open(INQUIRIES, { MERIDIAN_CONTACT: 'store' })
    assert.match(await show(), /No inquiries<\/h2><p class="soft">A new one shows here/)
    const { id } = await accept(app)
    const html = await show()
    assert.match(html, /<h2>Zoë Quarryman<\/h2><span class="badge">Stored/)
    assert.match(html, /zoe@quarry\.example.*Quarry &amp; Sons.*Two million look-ups a month/)
    assert.doesNotMatch(html, /\/retry"/)
    const refused = await act(`${id}/retry`)
    assert.equal(refused.status, 400)
    assert.match(refused.html, /role="alert">Inquiries are only stored/)
    assert.deepEqual(await actions(), [])
  })

  it('says that the contact form takes none, and how to change that', async () => {
    const { show } = await open(INQUIRIES)
    assert.match(await show(), /MERIDIAN_CONTACT is not set: the contact form answers 503/)
    const stored = await open(INQUIRIES, { MERIDIAN_CONTACT: 'store' })
    assert.doesNotMatch(await stored.show(), /is not set/)
  })

  it('shows why a delivery failed, and delivers it again', async () => {
    await using hook = await startWebhook()
    const { app, show, act, actions } = await open(INQUIRIES, hook.env)
    const { id } = await accept(app)
    await deliverDue(app)
    assert.match(await show(), /badge near">Queued.*<dt>Attempts<\/dt><dd>1<.*Last error.*500/)
    await giveUp(app)
    assert.match(await show('?state=dead'), /badge error">Failed.*the answer is 500/)
    hook.open()
    const { status, location } = await act(`${id}/retry`)
    assert.deepEqual([status, location], [303, `${INQUIRIES}?done=queued`])
    await hook.called
    await deliverDue(app)
    assert.match(await show('?done=queued'), /Queued again\..*badge good">Delivered/)
    assert.deepEqual(await actions(), [['retry_inquiry', id]])
    const again = await act(`${id}/retry`)
    assert.equal(again.status, 400)
    assert.match(again.html, /role="alert">It is delivered already/)
  })

  it('queues all that have failed again', async () => {
    await using hook = await startWebhook()
    const { app, show, act, actions } = await open(INQUIRIES, hook.env)
    const [first, second] = [await accept(app), await accept(app)]
    await giveUp(app)
    assert.doesNotMatch(await show(), /Queue all failed again/)
    assert.match(await show('?state=dead'), /Queue all failed again/)
    await act('retry-failed')
    assert.ok((await inquiries(app)).every(({ state }) => state === 'waiting'))
    const retried = [second.id, first.id].map((id) => ['retry_inquiry', id])
    assert.deepEqual(await actions(), retried)
  })

  it('removes an inquiry for good, without its sender in the audit log', async () => {
    const { app, act, actions } = await open(INQUIRIES, { MERIDIAN_CONTACT: 'store' })
    const { id } = await accept(app)
    const { location } = await act(`${id}/remove`)
    assert.equal(location, `${INQUIRIES}?done=removed`)
    assert.deepEqual(await inquiries(app), [])
    assert.deepEqual(await actions(), [['remove_inquiry', id]])
    assert.ok(!JSON.stringify(await actionsOf(app)).includes(INQUIRY.email))
    const { status, html } = await act(`${id}/remove`)
    assert.equal(status, 404)
    assert.match(html, /role="alert">There is no such inquiry/)
  })

  it('keeps an inquiry if the disk is read-only', async () => {
    const { app, act } = await open(INQUIRIES, { MERIDIAN_CONTACT: 'store' })
    const { id } = await accept(app)
    app.setReadOnly(true)
    const { status, html } = await act(`${id}/remove`)
    app.setReadOnly(false)
    assert.equal(status, 503)
    assert.match(html, /role="alert">The database cannot be used now/)
    assert.equal((await inquiries(app)).length, 1)
  })

  it('shows 25 at a time, newest first, and one state alone', async () => {
    const { app, show } = await open(INQUIRIES)
    const { db } = app.services
    for (let n = 1; n <= 26; n++) {
      const inquiry = { ...INQUIRY, name: `Visitor ${n}.`, userId: null, now: NOON + n }
      const state = n === 26 ? 'waiting' : 'kept'
      await insertInquiry(db, newInquiry({ ...inquiry, state })).run()
    }
    const first = await show()
    assert.match(first, /All \(26\).*Queued \(1\).*Stored \(25\)/)
    assert.match(first, /Visitor 26\..*Visitor 2\..*\?page=2">Older/)
    assert.doesNotMatch(first, /Visitor 1\./)
    const second = await show('?page=2')
    assert.match(second, /Visitor 1\..*\?page=1">Newer/)
    assert.doesNotMatch(second, /Older/)
    assert.match(await show('?state=kept'), /Visitor 25\..*Visitor 1\./)
    assert.match(await show('?state=x&page=-1'), /Visitor 26\./)
    assert.match(await show('?page=99'), /There is no page 99/)
  })
})

/** Queues a notice that the user has reached the cap. */
async function notify(app: TestApp, channel: 'mail' | 'webhook'): Promise<string> {
  const { db } = app.services
  const read = async (sql: string) => String(await readValue(app, sql))
  const before = await readColumn(app, 'SELECT id FROM cap_notices')
  const userId = await read("SELECT id FROM users WHERE email = 'ada@example.com'")
  const share = { percent: 100, isReported: true, isMailed: true }
  const notice = { userId, threshold: 'reach_cap', cap: 5_000, ...share } as const
  await insertCapNotice(db, notice, { channel, now: NOON }).run()
  const after = await readColumn(app, 'SELECT id FROM cap_notices')
  return String(after.find((id) => !before.includes(id)))
}

describe('the page of mails and webhook calls', () => {
  it('shows what is queued on each channel, and delivers a failed mail again', async () => {
    await using mail = await startMailServer()
    const { app, show, act, actions } = await open(NOTICES, { MERIDIAN_SMTP_URL: mail.url })
    await app.makeKey()
    const id = await notify(app, 'mail')
    await write(app, "UPDATE cap_notices SET state = 'dead', last_error = 'refused'")
    const html = await show()
    assert.match(html, /Monthly cap reached<\/h2><span class="badge error">Failed/)
    assert.match(html, /Mail to the user.*ada@example\.com.*5,000 requests.*refused/)
    assert.match(html, /<dt>User<\/dt><dd><a href="\/app\/operate\/people\/[\w-]+">/)
    assert.equal((await act(`${id}/retry`)).location, `${NOTICES}?done=queued`)
    assert.deepEqual((await mail.next()).to, ['ada@example.com'])
    await app.services.notices.retry()
    assert.match(await show(), /badge good">Delivered/)
    assert.deepEqual(await actions(), [['retry_notice', id]])
  })

  it('names the account in mails to further receivers, and the share of the cap', async () => {
    await using mail = await startMailServer()
    const { app, show } = await open(NOTICES, { MERIDIAN_SMTP_URL: mail.url })
    await app.makeKey()
    await notify(app, 'mail')
    await write(
      app,
      `UPDATE cap_notices SET state = 'dead', threshold = 'near_cap', percent = 20, email =
        'bob@shop.example', receiver_id = 'bob', account = 'ada@example.com'`,
    )
    const html = await show()
    assert.match(html, /20% of the monthly cap reached<\/h2>/)
    assert.match(html, /Mail to a further receiver.*bob@shop\.example.*About.*ada@example\.com/)
    assert.doesNotMatch(html, /Mail to the user|nearly/)
  })

  it('refuses a retry on a channel that is not configured, and removes the notice', async () => {
    const { app, show, act, actions } = await open(NOTICES)
    await app.makeKey()
    const id = await notify(app, 'webhook')
    assert.match(await show(), /Webhook of the operator/)
    const { status, html } = await act(`${id}/retry`)
    assert.equal(status, 400)
    assert.match(html, /role="alert">Nothing delivers it/)
    await act(`${id}/remove`)
    assert.match(await show(), /No deliveries/)
    assert.deepEqual(await actions(), [['remove_notice', id]])
  })

  it('have the title of their menu, and say that nothing sends them', async () => {
    const { show } = await open(NOTICES)
    const html = await show()
    assert.match(html, /<h1>Deliveries<\/h1>/)
    assert.match(html, /aria-current="page"><svg[^\n]*?<\/svg>Deliveries</)
    assert.match(html, /Users get no mail when they reach a limit/)
  })
})
