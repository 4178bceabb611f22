import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startPostgres } from '../../support/database/postgres-server.ts'
import { makeApp, type TestApp } from '../../support/helpers.ts'
import { closedAfterTest, shared } from '../../support/scene/freshly.ts'
import { visitPage, withCookiesOf } from '../../support/scene/pages.ts'

const server = shared(startPostgres)
const closed = closedAfterTest()

const FORM = `/app/vitals/links?site=${encodeURIComponent('https://shop.example')}`

it('a link works on all servers of a database, and on none once it is revoked', async () => {
  const url = await server.createDatabase()
  const env = { MERIDIAN_DATABASE_URL: url, MERIDIAN_SECRET: 'ab'.repeat(32) }
  const nodes = [closed(await makeApp({ env })), closed(await makeApp({ env }))] as const
  const [first, second] = nodes
  const ada = first.user('ada')
  await ada.submit('/app/sites', { name: 'https://shop.example' })
  const made = await ada.submit(FORM, { days: '7' })
  const to = (made.location ?? '').replace(/#.*/, '')
  const cookie = withCookiesOf(made, await ada.enter())
  const { html } = await visitPage(second, to, { cookie })
  const [path = assert.fail(html)] = /\/shared\/[\w-]{43}/.exec(html) ?? []
  const read = async (node: TestApp) => (await visitPage(node, path)).status
  assert.deepEqual([await read(first), await read(second)], [200, 200])
  const id = new URLSearchParams(to.split('?')[1]).get('created')
  await ada.submit(FORM.replace('?', `/${id}/revoke?`))
  assert.deepEqual([await read(second), await read(first)], [404, 404])
})
