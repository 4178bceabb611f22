import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { operateRoutes } from '../../routes/operate/operate.ts'
import { write } from '../support/database/sql.ts'
import { makeApp } from '../support/helpers.ts'
import { signInNewUser, visitPage } from '../support/scene/pages.ts'
import { signInOperator } from './operator.ts'

describe('the pages of operators', () => {
  it('open at the list of people', async () => {
    await using app = await makeApp()
    const cookie = await signInOperator(app)
    const { status, location } = await visitPage(app, '/app/operate', { cookie })
    assert.deepEqual([status, location], [303, '/app/operate/people'])
    const { html } = await visitPage(app, '/app/operate/people', { cookie })
    assert.match(html, /<nav class="rail" aria-label="Operate">/)
    assert.match(html, /href="\/app\/operate\/people" aria-current="page"/)
  })

  it('do not exist for other users', async () => {
    await using app = await makeApp()
    const cookie = await signInNewUser(app)
    const unknown = await visitPage(app, '/app/unknown', { cookie })
    for (const { method, path } of operateRoutes) {
      const { status, html } = await visitPage(app, path, {
        cookie,
        ...(method === 'post' && { form: {} }),
      })
      assert.equal(status, unknown.status, path)
      assert.match(html, /Page not found/, path)
    }
  })

  it('send a guest to sign in', async () => {
    await using app = await makeApp()
    for (const { method, path } of operateRoutes) {
      const page = await visitPage(app, path, { ...(method === 'post' && { form: {} }) })
      assert.equal(page.status, method === 'post' ? 401 : 303, path)
      assert.match(page.location ?? page.html, /\/app\/sign-in/, path)
    }
  })

  it('are linked from the dashboard of operators alone', async () => {
    await using app = await makeApp()
    const [user, operator] = [await signInNewUser(app), await signInOperator(app)]
    const link = /href="\/app\/operate"/
    assert.match((await visitPage(app, '/app/keys', { cookie: operator })).html, link)
    assert.doesNotMatch((await visitPage(app, '/app/keys', { cookie: user })).html, link)
  })

  it('close with the request after the role is taken', async () => {
    await using app = await makeApp()
    const cookie = await signInOperator(app)
    await write(app, "UPDATE users SET role = 'user'")
    assert.equal((await visitPage(app, '/app/operate/people', { cookie })).status, 404)
  })
})
