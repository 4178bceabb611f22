import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adoptUser } from '../../../lib/accounts/remote-users.ts'
import { findUser, findUserByEmail } from '../../../lib/accounts/users.ts'
import { readKeyCommand } from '../../../scripts/parts/key-options.ts'
import { readUserCommand } from '../../../scripts/parts/users/command.ts'
import { INQUIRY } from '../../contact/inquiry.ts'
import { codeOf, makeApp, NOON, type TestApp } from '../../support/helpers.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { visitPage } from '../../support/scene/pages.ts'
import { PASSWORD, sendAuth } from '../../support/sign-in.ts'

/** As typed, and as stored. HTML, “valid e-mail address”; RFC 5322, section 3.2.3, `atext`. */
const ACCEPTED: readonly (readonly [typed: string, stored: string])[] = [
  ['Ada.Case@Shop.Example', 'ada.case@shop.example'],
  [" o'brien@shop.example ", "o'brien@shop.example"],
  ['a&b@shop.example', 'a&b@shop.example'],
  ['x=y@shop.example', 'x=y@shop.example'],
  ["!#$%&'*+/=?^_`{|}~-@shop.example", "!#$%&'*+/=?^_`{|}~-@shop.example"],
  // The HTML pattern places no rule on dots.
  ['.a..b.@shop.example', '.a..b.@shop.example'],
  ['ada@localhost', 'ada@localhost'],
  // RFC 5891, section 4.2.3.1: A-labels have hyphens in the third and fourth position.
  ['ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
  ['eve@shop.xn--p1ai', 'eve@shop.xn--p1ai'],
  ['ada@a--b.example', 'ada@a--b.example'],
  ['ada@shop.c0m', 'ada@shop.c0m'],
  [`ada@${'x'.repeat(63)}.example`, `ada@${'x'.repeat(63)}.example`],
  // HTML limits labels to 63 characters, and not the part before the @.
  [`${'x'.repeat(65)}@shop.example`, `${'x'.repeat(65)}@shop.example`],
  [`${'x'.repeat(241)}@shop.example`, `${'x'.repeat(241)}@shop.example`],
  // Chromium sends A-labels for what was typed: UTS #46, without transitional processing.
  ['ada@BÜCHER.example', 'ada@xn--bcher-kva.example'],
  ['eve@straße.example', 'eve@xn--strae-oqa.example'],
  ['ada@почта.рф', 'ada@xn--80a1acny.xn--p1ai'],
]

const REFUSED = [
  'ada',
  'ada@',
  '@shop.example',
  'a b@shop.example',
  'a"b@shop.example',
  '"ada lovelace"@shop.example',
  'Ada <ada@shop.example>',
  'ada@shop.example, eve@shop.example',
  'zoë@shop.example',
  'ada@@shop.example',
  'ada@shop..example',
  'ada@-shop.example',
  'ada@shop-.example',
  'ada@shop_.example',
  'ada@shop.example.',
  'ada@[192.0.2.1]',
  'ada@bücher.example/x',
  'ada@bücher%2e.example',
  'ada@１.２',
  `ada@${'x'.repeat(64)}.example`,
  'ada@shop.example\r\nBcc: eve@shop.example',
  `${'x'.repeat(242)}@shop.example`,
]

/** Whether the door takes the address. */
type Door = (app: TestApp, email: string) => Promise<boolean>

const auth = (path: string, right: number): Door => {
  return async (app, email) => {
    const body = { email, password: PASSWORD, name: 'Ada' }
    const { status } = await sendAuth(app, path, body)
    assert.ok(status === right || status === 400, `${status}`)
    return status === right
  }
}

const form = (path: string, fields: Record<string, string> = {}, right = 303): Door => {
  return async (app, email) => {
    const { status } = await visitPage(app, path, { form: { ...fields, email } })
    assert.ok(status === right || status === 400, `${status}`)
    return status === right
  }
}

const command = (read: () => unknown, ...options: string[]): Door => {
  return async (_, email) => {
    const { argv } = process
    process.argv = ['node', 'command', `--email=${email}`, ...options]
    try {
      read()
      return true
    } catch (error) {
      assert.match(String(error), /--email must (be an e-mail address|have at most 254)/)
      return false
    } finally {
      process.argv = argv
    }
  }
}

/** None of them needs an account that exists. */
const DOORS: Readonly<Record<string, Door>> = {
  'POST /api/auth/sign-up/email': auth('/sign-up/email', 200),
  'POST /api/auth/sign-in/email': auth('/sign-in/email', 401),
  'POST /api/auth/request-password-reset': auth('/request-password-reset', 200),
  'POST /api/auth/send-verification-email': auth('/send-verification-email', 200),
  'the form to sign up': form('/app/sign-up', { name: 'Ada', password: PASSWORD }),
  'the form to sign in': form('/app/sign-in', { password: PASSWORD }, 401),
  'the form to ask for a reset': form('/app/forgot'),
  'POST /v1/account/me/email': async (app, email) => {
    const person = app.user(`owner-${crypto.randomUUID()}`)
    await person.key()
    const { status } = await person.send('POST', '/v1/account/me/email', { email })
    assert.ok(status === 200 || status === 400, `${status}`)
    return status === 200
  },
  'POST /v1/contact': async (app, email) => {
    const body = { ...INQUIRY, email, verification: 'wrong' }
    const answer = await app.send('POST', '/v1/contact', { body })
    // The shape is checked before the bot check.
    if (codeOf(answer) === 'BOT_VERIFICATION_FAILED') return true
    assert.equal(codeOf(answer), 'BAD_REQUEST')
    return false
  },
  'npm run user': command(readUserCommand),
  'npm run key': command(readKeyCommand, '--name', 'first'),
}

describe('an e-mail address', () => {
  for (const [name, takes] of Object.entries(DOORS)) {
    it(`is accepted or refused as by browsers: ${name}`, async () => {
      await using mail = await startMailServer()
      const env = { MERIDIAN_SMTP_URL: mail.url, MERIDIAN_CONTACT: 'store' }
      await using app = await makeApp({ env })
      const given = [...ACCEPTED.map(([typed]) => typed), ...REFUSED]
      const accepted: string[] = []
      for (const email of given) if (await takes(app, email)) accepted.push(email)
      assert.deepEqual(accepted, given.slice(0, ACCEPTED.length))
    })
  }

  const makers: Readonly<Record<string, Door>> = {
    'the API': auth('/sign-up/email', 200),
    'the form': DOORS['the form to sign up'] ?? assert.fail(),
  }
  for (const [name, makes] of Object.entries(makers)) {
    it(`works at all doors once ${name} has made its account`, async () => {
      for (const [typed, stored] of ACCEPTED) {
        await using app = await makeApp()
        assert.equal(await makes(app, typed), true, typed)
        assert.equal((await findUserByEmail(app.services.db, typed))?.email, stored)
        for (const email of [typed, stored]) {
          const { status, body } = await sendAuth(app, '/sign-in/email', {
            email,
            password: PASSWORD,
          })
          assert.equal(status, 200, email)
          assert.ok(JSON.stringify(body).includes(`"email":${JSON.stringify(stored)}`))
          const signIn = { email, password: PASSWORD }
          const page = await visitPage(app, '/app/sign-in', { form: signIn })
          assert.equal(page.location, '/app', email)
        }
      }
    })
  }

  it('is stored in one form for users of the auth service', async () => {
    for (const [typed, stored] of ACCEPTED) {
      await using app = await makeApp()
      const { db } = app.services
      const remote = { id: 'r1', name: 'Ada', email: typed, emailVerified: true }
      await adoptUser(db, remote, { findPlan: async () => 'free', now: NOON })
      assert.equal((await findUser(db, 'r1'))?.email, stored)
    }
  })

  it('is shown in answers and never as a stand-in, whether or not the account exists', async () => {
    await using mail = await startMailServer()
    await using app = await makeApp({ env: { MERIDIAN_SMTP_URL: mail.url } })
    const body = { email: 'a&b@shop.example', password: PASSWORD, name: 'Ada' }
    for (const _ of ['new', 'known']) {
      const answer = await sendAuth(app, '/sign-up/email', body)
      assert.ok(JSON.stringify(answer.body).includes('"email":"a&b@shop.example"'))
      assert.deepEqual((await mail.next()).to, ['a&b@shop.example'])
    }
  })
})
