import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findUserByEmail, isVouchedFor } from '../../lib/accounts/users.ts'
import { MINUTE_MS } from '../../lib/parts/durations.ts'
import { readValue, write } from '../support/database/sql.ts'
import type { TestApp } from '../support/helpers.ts'
import { freshMailScene } from '../support/scene/mail.ts'
import { type Page, visitPage, withCookiesOf } from '../support/scene/pages.ts'
import { freshScene } from '../support/scene/scene.ts'
import { PASSWORD } from '../support/sign-in.ts'
import { auditOf, OPERATOR, PERSON, personPath } from './operator.ts'

const PEOPLE = '/app/operate/people'
const NEW = 'zoe@example.com'
const INVITATION = { newEmail: NEW, newPlan: 'pro' }

/** The path and query of the link to choose a password in a text. */
function linkIn(text: string): string {
  const found = /http:\/\/[^\s<]*(\/app\/reset\?token=[\w-]+)/.exec(text)?.[1]
  assert.ok(found, text)
  return found
}

/** Chooses a password by the link. Returns the answer to a sign-in with it. */
async function claim(from: TestApp, link: string, email: string): Promise<Page> {
  const token = new URL(link, 'http://localhost').searchParams.get('token') ?? ''
  const password = `${PASSWORD} of ${email}`
  const reset = await visitPage(from, '/app/reset', { form: { token, password } })
  assert.equal(reset.status, 303, reset.html)
  return visitPage(from, '/app/sign-in', { form: { email, password } })
}

describe('disabling an account', () => {
  const app = freshScene()
  const olga = app.operator('olga')
  const ada = app.user('ada')

  it('invalidates the links to choose a password, for good', async () => {
    const path = await personPath(ada)
    const tokens = () => readValue(app, 'SELECT count(*) FROM verifications')
    assert.equal((await olga.submit(`${path}/link`)).status, 303)
    assert.equal(await tokens(), 1)
    assert.equal((await olga.submit(`${path}/disable`)).status, 303)
    assert.equal(await tokens(), 0)
  })
})

describe('an operator without a mail server', () => {
  // The links are better-auth's, which follows the clock of the machine.
  let later = 0
  const app = freshScene({ now: () => Date.now() + later })
  const olga = app.operator('olga')
  const eve = app.operator('eve')
  const ada = app.user('ada')

  it('creates an account, and alone sees the link, for ten minutes', async () => {
    const made = await olga.submit(PEOPLE, INVITATION)
    assert.equal(made.status, 303, made.html)
    const cookie = withCookiesOf(made, await olga.enter())
    const path = made.location ?? ''
    const { html } = await visitPage(app, path, { cookie })
    assert.match(html, /Account created\./)
    assert.match(html, /Pro \(assigned\)/)
    const link = linkIn(html)
    const other = withCookiesOf(made, await eve.enter())
    assert.doesNotMatch((await visitPage(app, path, { cookie: other })).html, /reset\?token/)
    later = 10 * MINUTE_MS
    assert.doesNotMatch((await visitPage(app, path, { cookie })).html, /reset\?token/)
    later = 0
    assert.equal((await claim(app, link, NEW)).status, 303)
    const user = await findUserByEmail(app.services.db, NEW)
    assert.ok(user !== null && (await isVouchedFor(app.services.db, user.id)))
    const detail = { app: 'dashboard', target: user.id, detail: `${NEW}: pro` }
    assert.deepEqual((await auditOf(app, 'create_user')).slice(-2), [
      { log: OPERATOR, label: OPERATOR, ...detail },
      { log: NEW, app: 'dashboard', label: 'operator', target: null, detail: 'pro' },
    ])
    assert.equal((await auditOf(app, 'link_account')).length, 2)
  })

  it('is told at the field what is wrong with an address, and keeps what was typed', async () => {
    await ada.enter()
    const cases = [
      [PERSON, /Belongs to an account already/],
      ['zoe', /Must be an e-mail address/],
    ] as const
    for (const [newEmail, problem] of cases) {
      const { status, html } = await olga.submit(PEOPLE, { ...INVITATION, newEmail })
      assert.equal(status, 400)
      assert.match(html, problem)
      assert.match(html, new RegExp(`id="newEmail"[^>]* value="${newEmail}"`))
      assert.match(html, /value="pro" selected/)
    }
    const demo = await olga.submit(PEOPLE, { ...INVITATION, newPlan: 'demo' })
    assert.match(demo.html, /id="newPlan-problem"/)
    assert.equal(await readValue(app, 'SELECT count(*) FROM users'), 2)
  })

  it('makes a link for somebody who has lost the password, not for oneself', async () => {
    const path = await personPath(ada)
    const asked = await olga.visit(`${path}/link`)
    assert.match(asked.html, /Whoever opens it can sign in as this person/)
    const made = await olga.submit(`${path}/link`)
    assert.equal(made.location, `${path}?done=link`)
    const cookie = withCookiesOf(made, await olga.enter())
    const { html } = await visitPage(app, made.location ?? '', { cookie })
    assert.equal((await claim(app, linkIn(html), PERSON)).status, 303)
    const own = await personPath(olga)
    assert.doesNotMatch((await olga.visit(own)).html, /password link/)
    for (const action of ['link', 'second-factor']) {
      assert.equal((await olga.submit(`${own}/${action}`)).status, 400, action)
    }
    await olga.submit(`${path}/disable`)
    const disabled = await olga.submit(`${path}/link`)
    assert.match(disabled.html, /role="alert">The account is disabled/)
  })

  it('turns off the second factor of somebody who has lost it', async () => {
    const path = await personPath(ada)
    const none = await olga.submit(`${path}/second-factor`)
    assert.match(none.html, /role="alert">The account has no second factor/)
    const { id } = await ada.row()
    const on = 'INSERT INTO second_factors (user_id, secret, confirmed_at) VALUES (?, ?, 1)'
    await write(app, on, id, 'sealed')
    assert.match((await olga.visit(path)).html, /<dt>Second factor<\/dt><dd>On/)
    const credentials = { email: PERSON, password: PASSWORD }
    const halted = await visitPage(app, '/app/sign-in', { form: credentials })
    assert.equal(halted.status, 200)
    const { location } = await olga.submit(`${path}/second-factor`)
    assert.match((await olga.visit(location ?? '')).html, /Second factor turned off\./)
    assert.equal((await visitPage(app, '/app/sign-in', { form: credentials })).status, 303)
    const rows = await auditOf(app, 'disable_two_factor')
    assert.deepEqual(rows, [
      { log: OPERATOR, app: 'dashboard', label: OPERATOR, target: id, detail: PERSON },
      { log: PERSON, app: 'dashboard', label: 'operator', target: null, detail: null },
    ])
  })
})

describe('an operator with a mail server', () => {
  const scene = freshMailScene({}, async () => {
    await olga.enter()
  })
  const { app, mail } = scene
  const olga = app.operator('olga')

  it('invites a new person, and does not see the link', async () => {
    const made = await olga.submit(PEOPLE, INVITATION)
    const { html } = await olga.visit(made.location ?? '')
    assert.match(html, /Account created\. A link to choose a password is on its way/)
    assert.doesNotMatch(html, /reset\?token/)
    const { to, headers, text } = await mail.next()
    assert.deepEqual(to, [NEW])
    assert.ok(headers.includes('Subject: Your account is ready'))
    linkIn(text)
  })

  it('mails a link to somebody, who also hears of the second factor', async () => {
    const made = await olga.submit(PEOPLE, INVITATION)
    await mail.next()
    const [path = ''] = (made.location ?? '').split('?')
    const { location } = await olga.submit(`${path}/link`)
    assert.match(
      (await olga.visit(location ?? '')).html,
      /A link to choose a password is on its way/,
    )
    const { headers, text } = await mail.next()
    assert.ok(headers.includes('Subject: Reset your password'))
    linkIn(text)
    const id = path.slice(PEOPLE.length + 1)
    const on = 'INSERT INTO second_factors (user_id, secret, confirmed_at) VALUES (?, ?, 1)'
    await write(app, on, id, 'sealed')
    await olga.submit(`${path}/second-factor`)
    await app.services.mails.retry()
    const notice = await mail.next()
    assert.ok(notice.headers.includes('Subject: Two-factor sign-in was turned off'))
  })
})
