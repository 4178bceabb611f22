import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { insertUser, newUser } from '../../lib/accounts/users.ts'
import { PERSON_ACTIONS } from '../../routes/operate/person-actions.ts'
import { SIGN_IN_ACTIONS } from '../../routes/operate/sign-in-actions.ts'
import { makeFail, readColumn, readRows, readValue } from '../support/database/sql.ts'
import { makeApp, NOON } from '../support/helpers.ts'
import { visitPage } from '../support/scene/pages.ts'
import type { Person } from '../support/scene/person.ts'
import { freshScene } from '../support/scene/scene.ts'
import { PASSWORD } from '../support/sign-in.ts'
import { auditOf, OPERATOR, PERSON, personPath } from './operator.ts'

const app = freshScene()
const ada = app.user('ada')
const olga = app.operator('olga')

const eve = app.operator('eve')

/** What an action on a person changes. */
const stored = () =>
  Promise.all([
    readRows(app, 'SELECT * FROM users ORDER BY id'),
    readRows(app, 'SELECT id, expires_at FROM api_keys ORDER BY id'),
    readRows(app, 'SELECT id FROM sessions ORDER BY id'),
    readRows(app, 'SELECT id FROM audit_log ORDER BY id'),
  ])

/** Opens the question, checks that nothing has happened, and sends its form. Returns the page after that. */
async function answer(path: string, email = '') {
  await olga.enter()
  const before = await stored()
  const asked = await olga.visit(path)
  assert.equal(asked.status, 200, asked.html)
  assert.deepEqual(await stored(), before)
  const [, action = ''] = /<form[^>]* action="([^"]*operate[^"]*)"/.exec(asked.html) ?? []
  const [, to = ''] = /name="to" value="([^"]*)"/.exec(asked.html) ?? []
  const { status, location, html } = await olga.submit(action, { to, email })
  assert.equal(status, 303, html)
  return olga.visit(location ?? '')
}

function signIn(password = PASSWORD) {
  return visitPage(app, '/app/sign-in', { form: { email: PERSON, password } })
}

describe('what an operator does about a person', () => {
  it('assigns a plan, in effect at once', async () => {
    await ada.key({ plan: 'free' })
    const path = await personPath(ada)
    const { html } = await answer(`${path}/plan?to=pro`)
    assert.match(html, /Plan set\./)
    assert.match(html, /Pro \(assigned\)/)
    const { headers } = await ada.lookUp()
    assert.match(headers.get('ratelimit-policy') ?? '', /q=600/)
    assert.equal(await readValue(app, 'SELECT expires_at FROM api_keys'), null)
    const changed = { target: (await ada.row()).id, detail: `${PERSON}: pro` }
    assert.deepEqual(await auditOf(app, 'change_plan'), [
      { log: OPERATOR, app: 'dashboard', label: OPERATOR, ...changed },
      { log: PERSON, app: 'dashboard', label: 'operator', target: null, detail: 'pro' },
    ])
  })

  it('disables and enables the account', async () => {
    await ada.enter()
    await ada.key({ plan: 'free' })
    const lookUp = async () => (await ada.lookUp()).status
    assert.equal(await lookUp(), 200)
    const path = await personPath(ada)
    const { html } = await answer(`${path}/disable`)
    assert.match(html, /badge error">Disabled/)
    assert.equal(await lookUp(), 401)
    assert.match((await ada.visit('/app')).location ?? '', /sign-in/)
    const refused = await signIn()
    assert.equal(refused.status, 403)
    assert.match(refused.html, /This account is disabled/)
    const wrong = await signIn('another password')
    assert.equal(wrong.status, 401)
    assert.doesNotMatch(wrong.html, /disabled/)
    await answer(`${path}/enable`)
    assert.equal(await lookUp(), 200)
    assert.match((await ada.visit('/app')).location ?? '', /sign-in/)
    assert.equal((await signIn()).status, 303)
    for (const action of ['disable_account', 'enable_account']) {
      const logs = (await auditOf(app, action)).map((row) => Object.values(Object(row)).slice(0, 3))
      assert.deepEqual(logs, [
        [OPERATOR, 'dashboard', OPERATOR],
        [PERSON, 'dashboard', 'operator'],
      ])
    }
  })

  it('ends all sessions of the person', async () => {
    const path = `${await personPath(ada)}/sign-out`
    await answer(path)
    assert.match((await ada.visit('/app')).location ?? '', /sign-in/)
    assert.equal((await auditOf(app, 'end_session')).length, 2)
    const again = await olga.submit(path)
    assert.equal(again.status, 400)
    assert.match(again.html, /role="alert">The account has no session/)
    assert.equal((await auditOf(app, 'end_session')).length, 2)
  })

  it('deletes the account, and keeps no name of it', async () => {
    await ada.key({ plan: 'free' })
    const path = await personPath(ada)
    const id = (await ada.row()).id
    await answer(`${path}/plan?to=pro`)
    for (const email of ['', 'eve@example.com']) {
      const refused = await olga.submit(`${path}/delete`, { to: '', email })
      assert.equal(refused.status, 400)
      assert.match(refused.html, /The address that you typed differs: nothing was changed/)
    }
    const { html } = await answer(`${path}/delete`, PERSON)
    assert.match(html, /Account deleted\./)
    assert.doesNotMatch(html, /ada@/)
    assert.equal((await ada.lookUp()).status, 401)
    assert.equal((await olga.visit(path)).status, 404)
    assert.deepEqual(await auditOf(app, 'delete_account'), [
      { log: OPERATOR, app: 'dashboard', label: OPERATOR, target: id, detail: null },
    ])
    const texts = await readRows(app, 'SELECT * FROM audit_log')
    assert.doesNotMatch(JSON.stringify(texts), /ada@/)
  })

  it('only reads the built-in account, while its look-up form is on', async () => {
    const shown = async (demo: string) => {
      await using app = await makeApp({ env: { MERIDIAN_DEMO: demo } })
      const olga = app.operator('olga')
      const demoUser = newUser({ email: 'demo', plan: 'demo', now: 1 })
      await insertUser(app.services.db, demoUser).run()
      return (await olga.visit(`/app/operate/people/${demoUser.id}`)).html
    }
    const [on, off] = [await shown('1'), await shown('0')]
    assert.match(on, /This account is built in/)
    assert.doesNotMatch(on, /Delete…/)
    assert.match(off, /Delete…/)
  })

  it('gives and removes the operator role', async () => {
    const path = await personPath(ada)
    const people = async () => (await ada.visit('/app/operate/people')).status
    await answer(`${path}/role?to=operator`)
    assert.equal(await people(), 200)
    await answer(`${path}/role?to=user`)
    assert.equal(await people(), 404)
    const details = (await auditOf(app, 'set_role')).map(({ detail }) => detail)
    assert.deepEqual(details, [`${PERSON}: operator`, 'operator', `${PERSON}: user`, 'user'])
  })
})

describe('what an operator cannot do', () => {
  const cases = [
    { name: 'an unknown plan', of: ada, action: 'plan', to: 'gold' },
    { name: 'no plan', of: ada, action: 'plan' },
    { name: 'the plan of the demo', of: ada, action: 'plan', to: 'demo' },
    { name: 'the same plan', of: ada, action: 'plan', to: 'free' },
    { name: 'enabling an account that is not disabled', of: ada, action: 'enable' },
    { name: 'an unknown role', of: ada, action: 'role', to: 'admin' },
    { name: 'the same role', of: ada, action: 'role', to: 'user' },
    { name: "removing one's own operator role", of: olga, action: 'role', to: 'user' },
    { name: 'disabling oneself', of: olga, action: 'disable' },
    { name: 'deleting oneself', of: olga, action: 'delete' },
    { name: 'disabling an operator', of: eve, action: 'disable' },
    { name: 'deleting an operator', of: eve, action: 'delete' },
  ]
  for (const { name, of, action, to = '' } of cases) {
    it(`refuses ${name}, when asked and when sent`, async () => {
      for (const person of [olga, eve, ada]) await person.enter()
      const before = await of.row()
      const path = `${await personPath(of)}/${action}`
      for (const page of [await olga.visit(`${path}?to=${to}`), await olga.submit(path, { to })]) {
        assert.equal(page.status, 400)
        assert.match(page.html, /role="alert">/)
      }
      assert.deepEqual(await of.row(), before)
      const count = "SELECT count(*) FROM audit_log WHERE target_type = 'user'"
      assert.equal(await readValue(app, count), 0)
    })
  }

  it("changes nothing about the landing page's account, to which nobody signs in", async () => {
    const demo = { ...newUser({ email: 'demo', plan: 'demo', now: NOON }), id: 'demo' }
    await insertUser(app.services.db, demo).run()
    for (const action of Object.keys({ ...PERSON_ACTIONS, ...SIGN_IN_ACTIONS })) {
      const path = `/app/operate/people/demo/${action}`
      const form = { to: 'pro', email: 'demo' }
      for (const page of [await olga.visit(`${path}?to=pro`), await olga.submit(path, form)]) {
        assert.equal(page.status, 400, action)
        assert.match(page.html, /belongs to the landing page/)
      }
    }
    assert.deepEqual(await readColumn(app, "SELECT plan FROM users WHERE id = 'demo'"), ['demo'])
    assert.equal(await readValue(app, 'SELECT count(*) FROM verifications'), 0)
  })

  it('keeps one operator if two remove the role of each other at the same time', async () => {
    const [toOlga, toEve] = [await personPath(olga), await personPath(eve)]
    const remove = (path: string, by: Person) => by.submit(`${path}/role`, { to: 'user' })
    const pages = await Promise.all([remove(toEve, olga), remove(toOlga, eve)])
    assert.equal(pages.filter(({ status }) => status === 303).length, 1)
    const count = "SELECT count(*) FROM users WHERE role = 'operator'"
    assert.equal(await readValue(app, count), 1)
  })

  it('accepts no forms of other sites', async () => {
    const path = await personPath(ada)
    for (const name of Object.keys({ ...PERSON_ACTIONS, ...SIGN_IN_ACTIONS })) {
      const headers = { 'sec-fetch-site': 'cross-site' }
      const form = { to: name === 'plan' ? 'pro' : 'operator' }
      const { status } = await olga.submit(`${path}/${name}`, form, { headers })
      assert.equal(status, 403, name)
    }
    const user = await ada.row()
    assert.deepEqual([user.plan, user.role, user.disabledAt], ['free', 'user', null])
  })

  it('changes nothing if the audit rows cannot be written', async () => {
    await ada.key({ plan: 'free' })
    const path = await personPath(ada)
    const isOfOperator = "NEW.action = 'disable_account' AND NEW.actor_label = 'operator'"
    await makeFail(app.services, 'INSERT ON audit_log', isOfOperator)
    assert.equal((await olga.submit(`${path}/disable`)).status, 500)
    assert.equal((await ada.lookUp()).status, 200)
    assert.deepEqual(await auditOf(app, 'disable_account'), [])
  })
})
