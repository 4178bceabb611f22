import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readRows, write } from '../support/database/sql.ts'
import { codeOf, makeApp, NOON } from '../support/helpers.ts'
import type { MailServer } from '../support/mail-server.ts'
import { freshMailScene } from '../support/scene/mail.ts'
import type { Session } from '../support/scene/person.ts'
import { freshScene } from '../support/scene/scene.ts'
import { askForReset, nextLink, PASSWORD, sendAuth, signIn } from '../support/sign-in.ts'

const app = freshScene()
const ada = app.user('ada')
const eve = app.user('eve')

const PATH = '/v1/account/me/email'
const NEW = 'ada@new.example'

const change = (by: Session, email = NEW, password = PASSWORD) =>
  by.send('POST', PATH, { email, password })

const confirm = (by: Session, body: unknown) => by.send('POST', `${PATH}/confirm`, body)

async function profileOf(of: Session) {
  const { body, status } = await of.send('GET', '/v1/account/me')
  if (status !== 200) return status
  const { email, emailVerified } = body as { email: string; emailVerified: boolean } // safe: checked
  return [email, emailVerified]
}

/** What the link in the next mail contains. */
async function linked(mail: MailServer) {
  const link = await nextLink(mail)
  assert.equal(link.pathname, '/app/account/email')
  return Object.fromEntries(link.searchParams)
}

describe('POST /v1/account/me/email', () => {
  it('without mail changes the address at once, and ends all other sessions', async () => {
    const [session, other] = [await ada.signUp(), await ada.signIn()]
    const { status, body } = await change(session, 'ADA@new.example')
    assert.deepEqual([status, body], [200, { status: 'changed' }])
    assert.deepEqual(await profileOf(session), [NEW, false])
    assert.equal(await profileOf(other), 401)
    await signIn(app, NEW)
    const old = { email: 'ada@example.com', password: PASSWORD }
    assert.equal((await sendAuth(app, '/sign-in/email', old)).status, 401)
  })

  it('is audited, without the new address', async () => {
    const session = await ada.signUp()
    await change(session)
    const { text } = await session.send('GET', '/v1/account/me/audit?action=change_email')
    assert.match(text, /"actor_label":"ada@example.com"/)
    assert.doesNotMatch(text, /new\.example/)
  })

  it('redirects all notices of limits that are not delivered to the new address', async () => {
    const session = await ada.signUp()
    await eve.signUp()
    await write(
      app,
      `INSERT INTO cap_notices (id, channel, user_id, email, threshold, requests, state,
        created_at, queued_at, due_at, attempts)
      SELECT email || ' ' || state, 'mail', id, email, 'near_cap', 80, state, ?, 1, 1, 0
      FROM users, (SELECT 'waiting' AS state UNION SELECT 'delivered' UNION SELECT 'dead'
        UNION SELECT 'kept') AS states`,
      NOON,
    )
    await change(session)
    assert.deepEqual(await readRows(app, 'SELECT id, email FROM cap_notices ORDER BY id'), [
      ['ada@example.com dead', NEW],
      ['ada@example.com delivered', 'ada@example.com'],
      ['ada@example.com kept', NEW],
      ['ada@example.com waiting', NEW],
      ['eve@example.com dead', 'eve@example.com'],
      ['eve@example.com delivered', 'eve@example.com'],
      ['eve@example.com kept', 'eve@example.com'],
      ['eve@example.com waiting', 'eve@example.com'],
    ])
  })

  it('refuses a wrong password and the address of another account', async () => {
    const session = await ada.signUp()
    await eve.signUp()
    assert.equal((await change(session, NEW, 'wrong horse')).status, 400)
    const taken = await change(session, 'eve@example.com')
    assert.deepEqual([taken.status, codeOf(taken)], [400, 'BAD_REQUEST'])
    assert.deepEqual(await profileOf(session), ['ada@example.com', false])
  })

  it('limits tries', async () => {
    const session = await ada.signUp()
    for (let tries = 0; tries < 10; tries++) await change(session, NEW, 'wrong horse')
    assert.equal((await change(session)).status, 429)
  })
})

describe('POST /v1/account/me/email', () => {
  const { app, mail } = freshMailScene()
  const [ada, eve] = [app.user('ada'), app.user('eve')]

  it('with mail asks the new address first, and notifies the old one', async () => {
    const session = await ada.signUpByMail(mail)
    const other = await ada.signIn()
    const asked = await change(session)
    assert.deepEqual(asked.body, { status: 'mailed' })
    assert.deepEqual(await profileOf(session), ['ada@example.com', true])
    const link = await linked(mail)
    assert.equal(link['email'], NEW)
    const confirmed = await confirm(session, link)
    assert.deepEqual(confirmed.body, { status: 'changed' }, confirmed.text)
    assert.deepEqual(await profileOf(session), [NEW, true])
    assert.equal(await profileOf(other), 401)
    const notice = await mail.next()
    assert.deepEqual(notice.to, ['ada@example.com'])
    assert.match(notice.text, /has another e-mail address now/)
    assert.equal((await confirm(session, link)).status, 400, 'a link is good once')
  })

  it('does not show who has an account, but mails its owner', async () => {
    const session = await ada.signUpByMail(mail)
    await eve.signUpByMail(mail)
    const taken = await change(session, eve.email)
    const notice = await mail.next()
    assert.deepEqual(notice.to, [eve.email])
    assert.match(notice.text, /tried to use your e-mail address/)
    const free = await change(session)
    await linked(mail)
    assert.deepEqual([taken.status, taken.text], [free.status, free.text])
  })

  it('mails an address as often as sign-ups do, whether or not it has an account', async () => {
    const session = await ada.signUpByMail(mail)
    await eve.signUpByMail(mail)
    app.pass(3_600_000 - 1)
    await write(app, `UPDATE sessions SET expires_at = ${NOON * 2}`)
    const statuses = async (email: string) => {
      const answers = []
      for (let tries = 0; tries < 6; tries++) answers.push((await change(session, email)).status)
      app.pass(3_600_000)
      return answers
    }
    const expected = [200, 200, 200, 200, 200, 429]
    assert.deepEqual(await statuses(NEW), expected)
    assert.deepEqual(await statuses(eve.email), expected)
    const name = { name: 'Eve', email: eve.email, password: PASSWORD }
    for (let tries = 0; tries < 5; tries++) await sendAuth(app, '/sign-up/email', name)
    const refused = await change(session, eve.email)
    assert.equal(refused.status, 429)
    assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  })

  it('takes the link only from its user, for its address, within an hour, with the same password', async () => {
    const session = await ada.signUpByMail(mail)
    const stranger = await eve.signUpByMail(mail)
    await change(session)
    const link = await linked(mail)
    assert.equal((await confirm(stranger, link)).status, 400)
    assert.equal((await confirm(session, { ...link, email: 'eve@other.example' })).status, 400)
    app.pass(3_600_000)
    await write(app, `UPDATE sessions SET expires_at = ${NOON * 2}`)
    assert.equal((await confirm(session, link)).status, 400)
    await change(session)
    const second = await linked(mail)
    const reset = await askForReset(app, mail)
    const password = `${PASSWORD} 2`
    const body = { token: reset, newPassword: password }
    assert.equal((await sendAuth(app, '/reset-password', body)).status, 200)
    const headers = { authorization: `Bearer ${await signIn(app, ada.email, { password })}` }
    const late = await app.send('POST', `${PATH}/confirm`, { headers, body: second })
    assert.equal(late.status, 400)
  })

  it('is refused where a remote service keeps addresses', async () => {
    await using app = await makeApp({ env: { MERIDIAN_AUTH_URL: 'http://127.0.0.1:9' } })
    const ada = app.user('ada')
    await ada.key()
    const answer = await ada.send('POST', PATH, { email: NEW })
    assert.equal(codeOf(answer), 'FORBIDDEN')
  })
})

describe('the address on the account page', () => {
  it('changes at once, and the browser stays signed in', async () => {
    const form = { newEmail: NEW, emailPassword: PASSWORD }
    const page = await ada.submit('/app/account/email', form)
    assert.equal(page.location, '/app/account?done=email')
    assert.match((await ada.visit('/app/account')).html, /ada@new\.example/)
  })
})

describe('the address on the account page', () => {
  const { app, mail } = freshMailScene()

  it('changes with a button on the page of the link, which itself changes nothing', async () => {
    const ada = app.user('ada')
    await ada.signUpByMail(mail)
    const asked = await ada.submit('/app/account/email', { newEmail: NEW, emailPassword: PASSWORD })
    assert.equal(asked.location, '/app/account?done=mailed')
    const { pathname, search, searchParams } = await nextLink(mail)
    const shown = await ada.visit(`${pathname}${search}`)
    assert.match(shown.html, /<strong>ada@new\.example<\/strong>/)
    assert.match((await ada.visit('/app/account')).html, /ada@example\.com/)
    const done = await ada.submit('/app/account/email/confirm', Object.fromEntries(searchParams))
    assert.equal(done.location, '/app/account?done=email')
  })
})
