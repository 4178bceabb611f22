import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findUserByEmail, insertUser, newUser } from '../../lib/accounts/users.ts'
import { PERSON_ACTIONS } from '../../routes/operate/person-actions.ts'
import { makeFail, readRows, readValue } from '../support/database/sql.ts'
import { makeApp, type TestApp } from '../support/helpers.ts'
import { signInNewUser, visitPage } from '../support/scene/pages.ts'
import { PASSWORD } from '../support/sign-in.ts'
import { auditOf, idOf, OPERATOR, PERSON, personPath, signInOperator } from './operator.ts'

/** What an action on a person changes. */
const stored = (app: TestApp) =>
  Promise.all([
    readRows(app, 'SELECT * FROM users ORDER BY id'),
    readRows(app, 'SELECT id, expires_at FROM api_keys ORDER BY id'),
    readRows(app, 'SELECT id FROM sessions ORDER BY id'),
    readRows(app, 'SELECT id FROM audit_log ORDER BY id'),
  ])

/** Opens the question, checks that nothing has happened, and sends its form. Returns the page after that. */
async function answer(app: TestApp, cookie: string, path: string, email = '') {
  const before = await stored(app)
  const asked = await visitPage(app, path, { cookie })
  assert.equal(asked.status, 200, asked.html)
  assert.deepEqual(await stored(app), before)
  const [, action = ''] = /<form[^>]* action="([^"]*operate[^"]*)"/.exec(asked.html) ?? []
  const [, to = ''] = /name="to" value="([^"]*)"/.exec(asked.html) ?? []
  const { status, location, html } = await visitPage(app, action, { cookie, form: { to, email } })
  assert.equal(status, 303, html)
  return visitPage(app, location ?? '', { cookie })
}

async function signIn(app: TestApp, email: string) {
  return visitPage(app, '/app/sign-in', { form: { email, password: PASSWORD } })
}

describe('what an operator does about a person', () => {
  it('assigns a plan, in effect at once', async () => {
    await using app = await makeApp()
    const cookie = await signInOperator(app)
    const key = await app.makeKey({ email: PERSON, plan: 'free' })
    const path = await personPath(app)
    const { html } = await answer(app, cookie, `${path}/plan?to=pro`)
    assert.match(html, /Plan set\./)
    assert.match(html, /Pro \(assigned\)/)
    const { headers } = await app.send('GET', '/v1/ip/81.2.69.160', { key })
    assert.match(headers.get('ratelimit-policy') ?? '', /q=600/)
    assert.equal(await readValue(app, 'SELECT expires_at FROM api_keys'), null)
    assert.deepEqual(await auditOf(app, 'change_plan'), [
      {
        log: OPERATOR,
        app: 'dashboard',
        label: OPERATOR,
        target: await idOf(app, PERSON),
        detail: `${PERSON}: pro`,
      },
      { log: PERSON, app: 'dashboard', label: 'operator', target: null, detail: 'pro' },
    ])
  })

  it('disables and enables the account', async () => {
    await using app = await makeApp()
    const [cookie, ada] = [await signInOperator(app), await signInNewUser(app, PERSON)]
    const key = await app.makeKey({ email: PERSON, plan: 'free' })
    const lookUp = async () => (await app.send('GET', '/v1/ip/81.2.69.160', { key })).status
    assert.equal(await lookUp(), 200)
    const path = await personPath(app)
    const { html } = await answer(app, cookie, `${path}/disable`)
    assert.match(html, /badge error">Disabled/)
    assert.equal(await lookUp(), 401)
    assert.match((await visitPage(app, '/app', { cookie: ada })).location ?? '', /sign-in/)
    const refused = await signIn(app, PERSON)
    assert.equal(refused.status, 403)
    assert.match(refused.html, /This account is disabled/)
    const wrong = await visitPage(app, '/app/sign-in', {
      form: { email: PERSON, password: 'another password' },
    })
    assert.equal(wrong.status, 401)
    assert.doesNotMatch(wrong.html, /disabled/)
    await answer(app, cookie, `${path}/enable`)
    assert.equal(await lookUp(), 200)
    assert.match((await visitPage(app, '/app', { cookie: ada })).location ?? '', /sign-in/)
    assert.equal((await signIn(app, PERSON)).status, 303)
    for (const action of ['disable_account', 'enable_account']) {
      const logs = (await auditOf(app, action)).map((row) => Object.values(Object(row)).slice(0, 3))
      assert.deepEqual(logs, [
        [OPERATOR, 'dashboard', OPERATOR],
        [PERSON, 'dashboard', 'operator'],
      ])
    }
  })

  it('ends all sessions of the person', async () => {
    await using app = await makeApp()
    const [cookie, ada] = [await signInOperator(app), await signInNewUser(app, PERSON)]
    const path = `${await personPath(app)}/sign-out`
    await answer(app, cookie, path)
    assert.match((await visitPage(app, '/app', { cookie: ada })).location ?? '', /sign-in/)
    assert.equal((await auditOf(app, 'end_session')).length, 2)
    const again = await visitPage(app, path, { cookie, form: {} })
    assert.equal(again.status, 400)
    assert.match(again.html, /role="alert">The account has no session/)
    assert.equal((await auditOf(app, 'end_session')).length, 2)
  })

  it('deletes the account, and keeps no name of it', async () => {
    await using app = await makeApp()
    const cookie = await signInOperator(app)
    const key = await app.makeKey({ email: PERSON, plan: 'free' })
    const path = await personPath(app)
    const id = await idOf(app, PERSON)
    await answer(app, cookie, `${path}/plan?to=pro`)
    for (const email of ['', 'eve@example.com']) {
      const form = { to: '', email }
      const refused = await visitPage(app, `${path}/delete`, { cookie, form })
      assert.equal(refused.status, 400)
      assert.match(refused.html, /The address that you typed differs: nothing was changed/)
    }
    const { html } = await answer(app, cookie, `${path}/delete`, PERSON)
    assert.match(html, /Account deleted\./)
    assert.doesNotMatch(html, /ada@/)
    assert.equal((await app.send('GET', '/v1/ip/81.2.69.160', { key })).status, 401)
    assert.equal((await visitPage(app, path, { cookie })).status, 404)
    assert.deepEqual(await auditOf(app, 'delete_account'), [
      { log: OPERATOR, app: 'dashboard', label: OPERATOR, target: id, detail: null },
    ])
    const texts = await readRows(app, 'SELECT * FROM audit_log')
    assert.doesNotMatch(JSON.stringify(texts), /ada@/)
  })

  it('only reads the built-in account, while its look-up form is on', async () => {
    const shown = async (demo: string) => {
      await using app = await makeApp({ env: { MERIDIAN_DEMO: demo } })
      const cookie = await signInOperator(app)
      const demoUser = newUser({ email: 'demo', plan: 'demo', now: 1 })
      await insertUser(app.services.db, demoUser).run()
      return (await visitPage(app, await personPath(app, 'demo'), { cookie })).html
    }
    const [on, off] = [await shown('1'), await shown('0')]
    assert.match(on, /This account is built in/)
    assert.doesNotMatch(on, /Delete…/)
    assert.match(off, /Delete…/)
  })

  it('gives and removes the operator role', async () => {
    await using app = await makeApp()
    const [cookie, ada] = [await signInOperator(app), await signInNewUser(app, PERSON)]
    const path = await personPath(app)
    const people = async () => (await visitPage(app, '/app/operate/people', { cookie: ada })).status
    await answer(app, cookie, `${path}/role?to=operator`)
    assert.equal(await people(), 200)
    await answer(app, cookie, `${path}/role?to=user`)
    assert.equal(await people(), 404)
    assert.deepEqual(
      (await auditOf(app, 'set_role')).map((row) => Object(row).detail),
      [`${PERSON}: operator`, 'operator', `${PERSON}: user`, 'user'],
    )
  })
})

describe('what an operator cannot do', () => {
  const cases = [
    { name: 'an unknown plan', of: PERSON, action: 'plan', to: 'gold' },
    { name: 'no plan', of: PERSON, action: 'plan' },
    { name: 'the plan of the demo', of: PERSON, action: 'plan', to: 'demo' },
    { name: 'the same plan', of: PERSON, action: 'plan', to: 'free' },
    { name: 'enabling an account that is not disabled', of: PERSON, action: 'enable' },
    { name: 'an unknown role', of: PERSON, action: 'role', to: 'admin' },
    { name: 'the same role', of: PERSON, action: 'role', to: 'user' },
    { name: "removing one's own operator role", of: OPERATOR, action: 'role', to: 'user' },
    { name: 'disabling oneself', of: OPERATOR, action: 'disable' },
    { name: 'deleting oneself', of: OPERATOR, action: 'delete' },
    { name: 'disabling an operator', of: 'eve@example.com', action: 'disable' },
    { name: 'deleting an operator', of: 'eve@example.com', action: 'delete' },
  ]
  for (const { name, of, action, to = '' } of cases) {
    it(`refuses ${name}, when asked and when sent`, async () => {
      await using app = await makeApp()
      const cookie = await signInOperator(app)
      await signInOperator(app, 'eve@example.com')
      await signInNewUser(app, PERSON)
      const before = await findUserByEmail(app.services.db, of)
      const path = `${await personPath(app, of)}/${action}`
      for (const page of [
        await visitPage(app, `${path}?to=${to}`, { cookie }),
        await visitPage(app, path, { cookie, form: { to } }),
      ]) {
        assert.equal(page.status, 400)
        assert.match(page.html, /role="alert">/)
      }
      assert.deepEqual(await findUserByEmail(app.services.db, of), before)
      const count = "SELECT count(*) FROM audit_log WHERE target_type = 'user'"
      assert.equal(await readValue(app, count), 0)
    })
  }

  it('keeps one operator if two remove the role of each other at the same time', async () => {
    await using app = await makeApp()
    const [olga, eve] = [await signInOperator(app), await signInOperator(app, 'eve@example.com')]
    const [toOlga, toEve] = [
      await personPath(app, OPERATOR),
      await personPath(app, 'eve@example.com'),
    ]
    const form = { to: 'user' }
    const pages = await Promise.all([
      visitPage(app, `${toEve}/role`, { cookie: olga, form }),
      visitPage(app, `${toOlga}/role`, { cookie: eve, form }),
    ])
    assert.equal(pages.filter(({ status }) => status === 303).length, 1)
    const count = "SELECT count(*) FROM users WHERE role = 'operator'"
    assert.equal(await readValue(app, count), 1)
  })

  it('accepts no forms of other sites', async () => {
    await using app = await makeApp()
    const cookie = await signInOperator(app)
    await signInNewUser(app, PERSON)
    const path = await personPath(app)
    for (const name of Object.keys(PERSON_ACTIONS)) {
      const headers = { 'sec-fetch-site': 'cross-site' }
      const form = { to: name === 'plan' ? 'pro' : 'operator' }
      const { status } = await visitPage(app, `${path}/${name}`, { cookie, form, headers })
      assert.equal(status, 403, name)
    }
    const user = await findUserByEmail(app.services.db, PERSON)
    assert.deepEqual([user?.plan, user?.role, user?.disabledAt], ['free', 'user', null])
  })

  it('changes nothing if the audit rows cannot be written', async () => {
    await using app = await makeApp()
    const cookie = await signInOperator(app)
    const key = await app.makeKey({ email: PERSON, plan: 'free' })
    const path = await personPath(app)
    const isOfOperator = "NEW.action = 'disable_account' AND NEW.actor_label = 'operator'"
    await makeFail(app.services, 'INSERT ON audit_log', isOfOperator)
    assert.equal((await visitPage(app, `${path}/disable`, { cookie, form: {} })).status, 500)
    assert.equal((await app.send('GET', '/v1/ip/81.2.69.160', { key })).status, 200)
    assert.deepEqual(await auditOf(app, 'disable_account'), [])
  })
})
