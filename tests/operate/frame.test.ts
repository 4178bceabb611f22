import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { operateRoutes } from '../../routes/operate/operate.ts'
import { write } from '../support/database/sql.ts'
import { visitPage } from '../support/scene/pages.ts'
import { freshScene } from '../support/scene/scene.ts'

const app = freshScene()
const ada = app.user('ada')
const olga = app.operator('olga')

describe('the pages of operators', () => {
  it('open at the list of people', async () => {
    const { status, location } = await olga.visit('/app/operate')
    assert.deepEqual([status, location], [303, '/app/operate/people'])
    const { html } = await olga.visit('/app/operate/people')
    assert.match(html, /<nav class="rail" aria-label="Operate">/)
    assert.match(html, /href="\/app\/operate\/people" aria-current="page"/)
  })

  it('do not exist for other users', async () => {
    const cookie = await ada.enter()
    const unknown = await ada.visit('/app/unknown')
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
    for (const { method, path } of operateRoutes) {
      const page = await visitPage(app, path, { ...(method === 'post' && { form: {} }) })
      assert.equal(page.status, method === 'post' ? 401 : 303, path)
      assert.match(page.location ?? page.html, /\/app\/sign-in/, path)
    }
  })

  it('are linked from the dashboard of operators alone', async () => {
    const link = /href="\/app\/operate"/
    assert.match((await olga.visit('/app/keys')).html, link)
    assert.doesNotMatch((await ada.visit('/app/keys')).html, link)
  })

  it('close with the request after the role is taken', async () => {
    await olga.enter()
    await write(app, "UPDATE users SET role = 'user'")
    assert.equal((await olga.visit('/app/operate/people')).status, 404)
  })
})
