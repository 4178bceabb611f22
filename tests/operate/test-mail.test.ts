import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type AppOptions, makeApp } from '../support/helpers.ts'
import { startMailServer } from '../support/mail-server.ts'
import { closedAfterTest } from '../support/scene/freshly.ts'
import { actionsOf, OPERATOR } from './operator.ts'

const closed = closedAfterTest()

const PAGE = '/app/operate/system'

/** A service, and what its operator sees after asking for a test mail. */
async function open(env: AppOptions['env'] = {}) {
  // Signed in before: with a mail server, a new user has to confirm the address first.
  const before = await makeApp()
  await before.operator('olga').enter()
  const app = closed(await before.restart(env))
  const olga = app.operator('olga')
  return {
    show: async (path = PAGE) => (await olga.visit(path)).html,
    send: () => olga.submit(`${PAGE}/test-mail`),
    actions: async () => (await actionsOf(app)).map(({ action }) => action),
  }
}

describe('a test mail', () => {
  it('goes to the operator, and the page says that the server has accepted it', async () => {
    await using mail = await startMailServer()
    const { show, send, actions } = await open({ MERIDIAN_SMTP_URL: mail.url })
    assert.match(await show(), /A test mail to olga@example\.com/)
    const { status, location } = await send()
    assert.equal(status, 303)
    assert.match(await show(location ?? ''), /The mail server has accepted the test mail/)
    const { to, headers } = await mail.next()
    assert.deepEqual(to, [OPERATOR])
    assert.ok(headers.includes('Subject: Test mail'))
    assert.deepEqual(await actions(), ['send_test_mail'])
  })

  it('shows the reply of a server that refuses it', async () => {
    await using mail = await startMailServer({ answer: () => 'refuse' })
    const { send } = await open({ MERIDIAN_SMTP_URL: mail.url })
    const { status, html } = await send()
    assert.equal(status, 503)
    assert.match(html, /role="alert">The mail server 127\.0\.0\.1:\d+ refuses the message: \d{3} /)
  })

  it('says that nothing answers, without the password', async () => {
    const password = crypto.randomUUID()
    const { send } = await open({ MERIDIAN_SMTP_URL: `smtp://ada:${password}@127.0.0.1:1` })
    const { status, html } = await send()
    assert.equal(status, 503)
    assert.match(
      html,
      /The mail server 127\.0\.0\.1:1 does not take the connection: .*ECONNREFUSED/,
    )
    assert.doesNotMatch(html, new RegExp(password))
  })

  it('says that no mail server is set', async () => {
    const { show, send, actions } = await open()
    assert.match(await show(), /<code>MERIDIAN_SMTP_URL<\/code> is not set/)
    assert.doesNotMatch(await show(), /test-mail/)
    assert.equal((await send()).status, 400)
    assert.deepEqual(await actions(), [])
  })
})
