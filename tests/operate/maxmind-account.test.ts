import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { silentLog } from '../../lib/parts/log/log.ts'
import { openDownloads } from '../../lib/services/geo/downloads.ts'
import { openMaxmindAccounts } from '../../lib/services/geo/maxmind-account.ts'
import type { Services } from '../../lib/services/services.ts'
import { readRows } from '../support/database/sql.ts'
import { makeApp } from '../support/helpers.ts'
import { closedAfterTest } from '../support/scene/freshly.ts'
import { actionsOf } from './operator.ts'

const closed = closedAfterTest()
const PAGE = '/app/operate/databases'
const ACCOUNT = { accountId: '123456', licenseKey: ['made', 'up', 'key'].join('_') }
const SETTINGS = {
  MERIDIAN_MAXMIND_ACCOUNT_ID: ACCOUNT.accountId,
  MERIDIAN_MAXMIND_LICENSE_KEY: ACCOUNT.licenseKey,
}

/** A server that downloads, and its operator. */
async function open(env: Readonly<Record<string, string>> = {}) {
  const replace = (services: Services): Partial<Services> => {
    const { config, now } = services
    const own = { config: { ...config, geo: { ...config.geo, files: undefined } }, log: silentLog }
    const opening = new AsyncDisposableStack()
    return {
      downloads: openDownloads({ ...own, now }, async () => {}, opening),
      maxmind: openMaxmindAccounts(services),
    }
  }
  const app = closed(await makeApp({ replace, env }))
  const olga = app.operator('olga')
  const enter = (fields: Record<string, string> = ACCOUNT) => olga.submit(`${PAGE}/maxmind`, fields)
  return { app, olga, enter, settings: () => app.services.maxmind.settings() }
}

describe("MaxMind's account on the page of the databases", () => {
  it('is kept for downloads, encrypted and audited, and never shown again', async () => {
    const { app, olga, enter, settings } = await open()
    assert.match((await olga.visit(PAGE)).html, /With a free account of maxmind\.com/)
    assert.deepEqual(await settings(), {})
    assert.equal((await enter()).location, `${PAGE}?done=kept`)
    assert.deepEqual(await settings(), SETTINGS)
    const { html } = await olga.visit(PAGE)
    assert.match(html, /An operator has entered the account/)
    const stored = JSON.stringify(await readRows(app, 'SELECT * FROM provider_accounts'))
    const logged = JSON.stringify(await readRows(app, 'SELECT * FROM audit_log'))
    for (const text of [html, stored, logged]) {
      assert.equal(text.includes(ACCOUNT.licenseKey), false)
      assert.equal(text.includes(ACCOUNT.accountId), false)
    }
    const actions = (await actionsOf(app)).map(({ action }) => action)
    assert.deepEqual(actions, ['set_maxmind_account'])
  })

  it('is replaced and removed', async () => {
    const { app, olga, enter, settings } = await open()
    await enter()
    await enter({ ...ACCOUNT, accountId: '7' })
    assert.equal((await settings())['MERIDIAN_MAXMIND_ACCOUNT_ID'], '7')
    const remove = () => olga.submit(`${PAGE}/maxmind/remove`)
    assert.equal((await remove()).location, `${PAGE}?done=removed`)
    assert.deepEqual(await settings(), {})
    await remove()
    const actions = (await actionsOf(app)).map(({ action }) => action)
    const set = 'set_maxmind_account'
    assert.deepEqual(actions, [set, set, 'remove_maxmind_account'], 'removing none is not logged')
  })

  it('says at its field what is wrong, and keeps nothing', async () => {
    const { enter, settings } = await open()
    const number = await enter({ ...ACCOUNT, accountId: 'ada@example.com' })
    assert.equal(number.status, 400)
    assert.match(number.html, /id="accountId-problem"[^>]*>[^<]*Must be a number/)
    const key = await enter({ ...ACCOUNT, licenseKey: 'a b' })
    assert.match(key.html, /id="licenseKey-problem"[^>]*>[^<]*Must be letters, digits/)
    assert.equal(key.html.includes('a b'), false)
    assert.deepEqual(await settings(), {})
  })

  it('is that of the settings if they have one', async () => {
    const { app, olga, enter, settings } = await open(SETTINGS)
    const { html } = await olga.visit(PAGE)
    assert.match(html, /MERIDIAN_MAXMIND_LICENSE_KEY are set/)
    assert.doesNotMatch(html, /id="licenseKey"/)
    assert.equal((await enter()).status, 400)
    assert.deepEqual(await settings(), {})
    assert.deepEqual(await readRows(app, 'SELECT * FROM provider_accounts'), [])
  })
})
