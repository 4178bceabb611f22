import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import * as v from 'valibot'
import type { Log } from '../../../lib/parts/log/log.ts'
import { addTrigger, makeFail, readRows, write } from '../../support/database/sql.ts'
import { codeOf, makeApp, recordingLog, type TestApp } from '../../support/helpers.ts'
import { type MailServer, startMailServer } from '../../support/mail-server.ts'
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

interface Stolen {
  readonly app: TestApp
  readonly mail: MailServer
  /** The session and key that a stranger made with the address of somebody else. */
  readonly session: string
  readonly key: string
}

/** A stranger signs up and makes a key while the service has no mail server; then it gets one. */
async function withStolenAccount(run: (stolen: Stolen) => Promise<void>) {
  await using mail = await startMailServer()
  const before = await makeApp()
  const session = await signUp(before, EMAIL)
  const headers = { authorization: `Bearer ${session}` }
  const made = await before.send('POST', '/v1/account/me/keys', { headers, body: { name: 'mine' } })
  const { rawKey: key } = v.parse(v.object({ rawKey: v.string() }), made.body)
  await using app = await before.restart({ MERIDIAN_SMTP_URL: mail.url })
  await run({ app, mail, session, key })
}

async function reset(stolen: Stolen, more: object = {}) {
  const token = await askForReset(stolen.app, stolen.mail)
  const answer = await sendAuth(stolen.app, '/reset-password', { token, newPassword, ...more })
  assert.equal(answer.status, 200)
}

async function statusOf({ app }: Stolen, key: string) {
  return (await app.send('GET', LOCATE, { key })).status
}

function rows({ app }: Pick<Stolen, 'app'>, sql: string) {
  return readRows(app, sql)
}

describe('POST /api/auth/reset-password', () => {
  it('ends the sessions and revokes the keys of an account whose address was not verified', async () => {
    await withStolenAccount(async (stolen) => {
      assert.equal(await statusOf(stolen, stolen.key), 200)
      await reset(stolen)
      assert.equal(await statusOf(stolen, stolen.key), 401)
      const headers = { authorization: `Bearer ${stolen.session}` }
      assert.equal((await stolen.app.send('GET', '/v1/account/me', { headers })).status, 401)
      assert.deepEqual(
        await rows(
          stolen,
          "SELECT app, actor_label, detail FROM audit_log WHERE action = 'revoke_key'",
        ),
        [['api', EMAIL, 'mine']],
      )
    })
  })

  it('keeps the keys that the operator made on the command line', async () => {
    await withStolenAccount(async (stolen) => {
      const key = await stolen.app.makeKey({ email: EMAIL })
      await write(
        stolen.app,
        `INSERT INTO audit_log (app, actor_id, action, target_id, created_at)
           SELECT 'cli', user_id, 'create_key', id, 1 FROM api_keys WHERE prefix = ?`,
        key.slice(0, 16),
      )
      await reset(stolen)
      assert.equal(await statusOf(stolen, key), 200)
      assert.equal(await statusOf(stolen, stolen.key), 401)
      await reset(stolen, { revokeKeys: true })
      assert.equal(await statusOf(stolen, key), 401)
    })
  })

  it('keeps the keys if the caller asks for it, and later because the address is verified', async () => {
    await withStolenAccount(async (stolen) => {
      await reset(stolen, { revokeKeys: false })
      assert.equal(await statusOf(stolen, stolen.key), 200)
      assert.deepEqual(await rows(stolen, 'SELECT email_verified FROM users'), [[1]])
      await reset(stolen)
      assert.equal(await statusOf(stolen, stolen.key), 200)
      await reset(stolen, { revokeKeys: true })
      assert.equal(await statusOf(stolen, stolen.key), 401)
    })
  })

  it('spends all other tokens of the user, and of nobody else', async () => {
    await withStolenAccount(async (stolen) => {
      const { app, mail } = stolen
      await app.makeKey({ email: 'kim@example.com' })
      const kims = await askForReset(app, mail, 'kim@example.com')
      const older = await askForReset(app, mail)
      await reset(stolen)
      const again = await sendAuth(app, '/reset-password', { token: older, newPassword: PASSWORD })
      assert.equal(again.status, 400)
      const other = await sendAuth(app, '/reset-password', { token: kims, newPassword: PASSWORD })
      assert.equal(other.status, 200)
      assert.ok(await signIn(app, 'kim@example.com'))
    })
  })

  it('sets one password if tokens of one user are used at once, the same one or several', async () => {
    await withStolenAccount(async ({ app, mail }) => {
      const [one, two] = [await askForReset(app, mail), await askForReset(app, mail)]
      const use = (token: string, nth: number) =>
        sendAuth(app, '/reset-password', { token, newPassword: `${PASSWORD} ${nth}` })
      const answers = await Promise.all([one, two, one, two].map(use))
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400, 400])
      const set = answers.findIndex(({ status }) => status === 200)
      assert.ok(await signIn(app, EMAIL, { password: `${PASSWORD} ${set}` }))
    })
  })

  it('changes nothing if one of its writes fails, and succeeds with the same token later', async () => {
    await withStolenAccount(async (stolen) => {
      const { app, mail, session } = stolen
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
  })

  it('answers 400 if revokeKeys is not a boolean, and does not spend the token', async () => {
    await withStolenAccount(async (stolen) => {
      const token = await askForReset(stolen.app, stolen.mail)
      const send = (revokeKeys: unknown) =>
        sendAuth(stolen.app, '/reset-password', { token, newPassword, revokeKeys })
      assert.equal((await send('no')).status, 400)
      assert.equal((await send(false)).status, 200)
    })
  })
})

describe('a sign-in during which the password changes', () => {
  const CHANGE = `UPDATE accounts SET password =
    (SELECT password FROM accounts ORDER BY created_at DESC LIMIT 1)`

  /** The service with Ada's session, and Eve's password for `CHANGE`. */
  async function open(log?: Log) {
    const app = await makeApp(log === undefined ? {} : { log })
    const session = await signUp(app)
    const eve = { email: 'eve@example.com', password: newPassword, name: 'Eve' }
    await sendAuth(app, '/sign-up/email', eve)
    return { app, session }
  }

  it('starts no session with the old password, and ends no other session', async () => {
    const { app, session } = await open()
    await using _closing = app
    await addTrigger(app.services, 'INSERT ON sessions', CHANGE)
    const before = await rows({ app }, 'SELECT id FROM sessions')
    assert.equal(
      (await sendAuth(app, '/sign-in/email', { email: EMAIL, password: PASSWORD })).status,
      401,
    )
    assert.deepEqual(await rows({ app }, 'SELECT id FROM sessions'), before)
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
  async function openLink({ app, mail }: Stolen) {
    const { pathname, search, searchParams } = await nextLink(mail)
    const { html } = await visitPage(app, `${pathname}${search}`)
    return { html, token: searchParams.get('token') ?? '' }
  }

  it('proposes to revoke the keys of an address that was not verified, and does so', async () => {
    await withStolenAccount(async (stolen) => {
      const { app } = stolen
      await visitPage(app, '/app/forgot', { form: { email: EMAIL } })
      const { html, token } = await openLink(stolen)
      assert.match(html, /name="revokeKeys" value="yes" checked/)
      const form = { token, password: newPassword, revokeKeys: 'yes' }
      assert.equal((await visitPage(app, '/app/reset', { form })).status, 303)
      assert.equal(await statusOf(stolen, stolen.key), 401)
      const actions = "SELECT app FROM audit_log WHERE action = 'revoke_key'"
      assert.deepEqual(await rows(stolen, actions), [['dashboard']])
    })
  })

  it('is where the mail leads and proposes to revoke the keys, whatever page the request names', async () => {
    await withStolenAccount(async (stolen) => {
      for (const redirectTo of ['/app/reset', '/app/reset?keys=keep', '/app/sign-in']) {
        await sendAuth(stolen.app, '/request-password-reset', { email: EMAIL, redirectTo })
        assert.match((await openLink(stolen)).html, /name="revokeKeys" value="yes" checked/)
      }
    })
  })

  it('does not propose to revoke the keys if the address was verified', async () => {
    await withStolenAccount(async (stolen) => {
      const { app } = stolen
      await write(app, 'UPDATE users SET email_verified = 1')
      await visitPage(app, '/app/forgot', { form: { email: EMAIL } })
      assert.match((await openLink(stolen)).html, /name="revokeKeys" value="yes"\/?>/)
    })
  })
})

describe('a reset while a thief changes the password', () => {
  it('ends the sessions of the thief, unless the change came first and spent the link', async () => {
    const before = await makeApp()
    const headers = { authorization: `Bearer ${await signUp(before, EMAIL)}` }
    await using mail = await startMailServer()
    await using app = await before.restart({ MERIDIAN_SMTP_URL: mail.url })
    let session = headers
    let owners = PASSWORD
    const thief = `${PASSWORD} of a thief`
    for (let turns = 0; turns < 12; turns++) {
      const token = await askForReset(app, mail)
      const change = { currentPassword: owners, newPassword: thief, revokeOtherSessions: true }
      const changed = sendAuth(app, '/change-password', change, { headers: session })
      for (let turn = 0; turn < turns; turn++) await nextTurn()
      owners = `${PASSWORD} ${turns}`
      const reset = await sendAuth(app, '/reset-password', { token, newPassword: owners })
      await changed
      // If the change came first, it has spent the link.
      if (reset.status !== 200) owners = thief
      else assert.deepEqual(await rows({ app }, 'SELECT id FROM sessions'), [], `${turns} turns`)
      session = { authorization: `Bearer ${await signIn(app, EMAIL, { password: owners })}` }
      app.services.limits.resetMails.refund(EMAIL)
    }
  })
})

describe('a mailed link for a reset', () => {
  it('is worthless once the password was changed', async () => {
    await using mail = await startMailServer()
    const before = await makeApp()
    const headers = { authorization: `Bearer ${await signUp(before, EMAIL)}` }
    await using app = await before.restart({ MERIDIAN_SMTP_URL: mail.url })
    const token = await askForReset(app, mail)
    const change = { currentPassword: PASSWORD, newPassword }
    assert.equal((await sendAuth(app, '/change-password', change, { headers })).status, 200)
    const used = await sendAuth(app, '/reset-password', { token, newPassword: PASSWORD })
    assert.equal(used.status, 400)
  })
})
