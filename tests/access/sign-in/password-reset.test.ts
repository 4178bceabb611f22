import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import * as v from 'valibot'
import { addTrigger, makeFail, readRows, write } from '../../support/database/sql.ts'
import { codeOf, makeApp, recordingLog } from '../../support/helpers.ts'
import { freshMailScene } from '../../support/scene/mail.ts'
import { visitPage } from '../../support/scene/pages.ts'
import {
  askForReset,
  lookUpWith,
  nextLink,
  PASSWORD,
  sendAuth,
  signIn,
  signUp,
} from '../../support/sign-in.ts'

const LOCATE = '/v1/ip/81.2.69.160'
const EMAIL = 'ada@example.com'
const newPassword = `${PASSWORD} 2`

/** What a stranger made with the address of somebody else, while the service had no mail server. */
let session: string
let key: string
const { app, mail } = freshMailScene({}, async () => {
  const ada = app.user('ada')
  session = (await ada.signUp()).token
  const made = await ada.send('POST', '/v1/account/me/keys', { name: 'mine' })
  key = v.parse(v.object({ rawKey: v.string() }), made.body).rawKey
})

async function reset(more: object = {}) {
  const token = await askForReset(app, mail)
  const answer = await sendAuth(app, '/reset-password', { token, newPassword, ...more })
  assert.equal(answer.status, 200)
}

const statusOf = async (text: string) => (await app.send('GET', LOCATE, { key: text })).status
const rows = (sql: string, of = app) => readRows(of, sql)

describe('POST /api/auth/reset-password', () => {
  it('ends the sessions and revokes the keys of an account whose address was not verified', async () => {
    assert.equal(await statusOf(key), 200)
    await reset()
    assert.equal(await statusOf(key), 401)
    assert.equal(await lookUpWith(app, session), 401)
    const revoked = "SELECT app, actor_label, detail FROM audit_log WHERE action = 'revoke_key'"
    assert.deepEqual(await rows(revoked), [['api', EMAIL, 'mine']])
  })

  it('keeps the keys that the operator made on the command line', async () => {
    const own = await app.makeKey({ email: EMAIL })
    await write(
      app,
      `INSERT INTO audit_log (app, actor_id, action, target_id, created_at)
           SELECT 'cli', user_id, 'create_key', id, 1 FROM api_keys WHERE prefix = ?`,
      own.slice(0, 16),
    )
    await reset()
    assert.equal(await statusOf(own), 200)
    assert.equal(await statusOf(key), 401)
    await reset({ revokeKeys: true })
    assert.equal(await statusOf(own), 401)
  })

  it('keeps the keys if the caller asks for it, and later because the address is verified', async () => {
    await reset({ revokeKeys: false })
    assert.equal(await statusOf(key), 200)
    assert.deepEqual(await rows('SELECT email_verified FROM users'), [[1]])
    await reset()
    assert.equal(await statusOf(key), 200)
    await reset({ revokeKeys: true })
    assert.equal(await statusOf(key), 401)
  })

  it('spends all other tokens of the user, and of nobody else', async () => {
    await app.makeKey({ email: 'kim@example.com' })
    const kims = await askForReset(app, mail, 'kim@example.com')
    const older = await askForReset(app, mail)
    await reset()
    const again = await sendAuth(app, '/reset-password', { token: older, newPassword: PASSWORD })
    assert.equal(again.status, 400)
    const other = await sendAuth(app, '/reset-password', { token: kims, newPassword: PASSWORD })
    assert.equal(other.status, 200)
    assert.ok(await signIn(app, 'kim@example.com'))
  })

  it('sets one password if tokens of one user are used at once, the same one or several', async () => {
    const [one, two] = [await askForReset(app, mail), await askForReset(app, mail)]
    const use = (token: string, nth: number) =>
      sendAuth(app, '/reset-password', { token, newPassword: `${PASSWORD} ${nth}` })
    const answers = await Promise.all([one, two, one, two].map(use))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400, 400])
    const set = answers.findIndex(({ status }) => status === 200)
    assert.ok(await signIn(app, EMAIL, { password: `${PASSWORD} ${set}` }))
  })

  it('changes nothing if one of its writes fails, and succeeds with the same token later', async () => {
    const token = await askForReset(app, mail)
    for (const event of ['UPDATE OF password ON accounts', 'DELETE ON api_keys']) {
      const failing = await makeFail(app.services, event)
      const failed = await sendAuth(app, '/reset-password', { token, newPassword })
      assert.equal(codeOf(failed), 'INTERNAL')
      assert.equal(await lookUpWith(app, session), 200)
      assert.ok(await signIn(app, EMAIL))
      await failing.remove()
    }
    const set = await sendAuth(app, '/reset-password', { token, newPassword })
    assert.equal(set.status, 200)
    assert.ok(await signIn(app, EMAIL, { password: newPassword }))
  })

  it('answers 400 if revokeKeys is not a boolean, and does not spend the token', async () => {
    const token = await askForReset(app, mail)
    const send = (revokeKeys: unknown) =>
      sendAuth(app, '/reset-password', { token, newPassword, revokeKeys })
    assert.equal((await send('no')).status, 400)
    assert.equal((await send(false)).status, 200)
  })
})

describe('a sign-in during which the password changes', () => {
  const CHANGE = `UPDATE accounts SET password =
    (SELECT password FROM accounts ORDER BY created_at DESC LIMIT 1)`

  /** The service with Ada's session, and Eve's password for `CHANGE`. */
  async function open(log = recordingLog()) {
    const app = await makeApp({ log })
    const own = await signUp(app)
    const eve = { email: 'eve@example.com', password: newPassword, name: 'Eve' }
    await sendAuth(app, '/sign-up/email', eve)
    return { app, session: own }
  }

  it('starts no session with the old password, and ends no other session', async () => {
    const { app, session } = await open()
    await using _closing = app
    await addTrigger(app.services, 'INSERT ON sessions', CHANGE)
    const before = await rows('SELECT id FROM sessions', app)
    const old = { email: EMAIL, password: PASSWORD }
    assert.equal((await sendAuth(app, '/sign-in/email', old)).status, 401)
    assert.deepEqual(await rows('SELECT id FROM sessions', app), before)
    assert.equal(await lookUpWith(app, session), 200)
  })

  it('ends no session if its password is wrong', async () => {
    const log = recordingLog()
    let race: () => unknown = () => {}
    const { app, session } = await open({
      ...log,
      // better-auth logs it between checking the password and answering.
      warn: (_, message) => {
        if (message === 'Invalid password') race()
      },
    })
    await using _closing = app
    const changes: Promise<void>[] = []
    race = () => changes.push(write(app, CHANGE))
    const wrong = { email: EMAIL, password: 'wrong horse' }
    assert.equal((await sendAuth(app, '/sign-in/email', wrong)).status, 401)
    assert.equal((await Promise.all(changes)).length, 1)
    assert.equal(await lookUpWith(app, session), 200)
  })
})

describe('the form for a new password', () => {
  /** Opens the link in the mail. Returns the form and the token in it. */
  async function openLink() {
    const { pathname, search, searchParams } = await nextLink(mail)
    const { html } = await visitPage(app, `${pathname}${search}`)
    return { html, token: searchParams.get('token') ?? '' }
  }

  it('names the user for password managers, while the link is good', async () => {
    // HTML, 4.10.18.7: autocomplete="username" is the name that goes with the password.
    const name = new RegExp(`<input[^>]*value="${EMAIL}"[^>]*autocomplete="username"`)
    await visitPage(app, '/app/forgot', { form: { email: EMAIL } })
    const { html, token } = await openLink()
    assert.match(html, name)
    const form = { token, password: 'short' }
    assert.match((await visitPage(app, '/app/reset', { form })).html, name)
    await visitPage(app, '/app/reset', { form: { token, password: newPassword } })
    const spent = await visitPage(app, `/app/reset?token=${token}`)
    assert.doesNotMatch(spent.html, name)
  })

  it('proposes to revoke the keys of an address that was not verified, and does so', async () => {
    await visitPage(app, '/app/forgot', { form: { email: EMAIL } })
    const { html, token } = await openLink()
    assert.match(html, /name="revokeKeys" value="yes" checked/)
    const form = { token, password: newPassword, revokeKeys: 'yes' }
    assert.equal((await visitPage(app, '/app/reset', { form })).status, 303)
    assert.equal(await statusOf(key), 401)
    const actions = "SELECT app FROM audit_log WHERE action = 'revoke_key'"
    assert.deepEqual(await rows(actions), [['dashboard']])
  })

  it('is where the mail leads and proposes to revoke the keys, whatever page the request names', async () => {
    for (const redirectTo of ['/app/reset', '/app/reset?keys=keep', '/app/sign-in']) {
      await sendAuth(app, '/request-password-reset', { email: EMAIL, redirectTo })
      assert.match((await openLink()).html, /name="revokeKeys" value="yes" checked/)
    }
  })

  it('does not propose to revoke the keys if the address was verified', async () => {
    await write(app, 'UPDATE users SET email_verified = 1')
    await visitPage(app, '/app/forgot', { form: { email: EMAIL } })
    assert.match((await openLink()).html, /name="revokeKeys" value="yes"\/?>/)
  })
})

describe('a reset while a thief changes the password', () => {
  it('ends the sessions of the thief, unless the change came first and spent the link', async () => {
    let current = session
    let owners = PASSWORD
    const thief = `${PASSWORD} of a thief`
    for (let turns = 0; turns < 12; turns++) {
      const token = await askForReset(app, mail)
      const change = { currentPassword: owners, newPassword: thief, revokeOtherSessions: true }
      const headers = { authorization: `Bearer ${current}` }
      const changed = sendAuth(app, '/change-password', change, { headers })
      for (let turn = 0; turn < turns; turn++) await nextTurn()
      owners = `${PASSWORD} ${turns}`
      const set = await sendAuth(app, '/reset-password', { token, newPassword: owners })
      await changed
      // If the change came first, it has spent the link.
      if (set.status !== 200) owners = thief
      else assert.deepEqual(await rows('SELECT id FROM sessions'), [], `${turns} turns`)
      current = await signIn(app, EMAIL, { password: owners })
      app.services.limits.resetMails.refund(EMAIL)
    }
  })
})

describe('a mailed link for a reset', () => {
  it('is worthless once the password was changed', async () => {
    const headers = { authorization: `Bearer ${session}` }
    const token = await askForReset(app, mail)
    const change = { currentPassword: PASSWORD, newPassword }
    assert.equal((await sendAuth(app, '/change-password', change, { headers })).status, 200)
    const used = await sendAuth(app, '/reset-password', { token, newPassword: PASSWORD })
    assert.equal(used.status, 400)
  })
})
