import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { SiteProof } from '../../lib/contract/account/site-proof.ts'
import { makeApp, type TestApp } from '../support/helpers.ts'
import { freshly } from '../support/scene/freshly.ts'
import { words } from '../support/words.ts'

const SITES = '/v1/account/me/sites'
/** Names that mean another machine in each network. */
const LOCAL = words(`
  http://localhost:3000 http://shop.localhost http://127.0.0.1:8080 http://192.0.2.1
  http://[2001:db8::1] http://intranet http://shop.local http://shop.test http://shop.internal
  http://shop.home.arpa http://router.lan`)

function open(baseUrl: string): Promise<TestApp> {
  return makeApp({ env: { MERIDIAN_BASE_URL: baseUrl } })
}

/** Returns the actions in the audit log of the user, the oldest first. */
async function actionsOf(app: TestApp, user: string): Promise<string[]> {
  const logs = await app.user(user).audit()
  return logs.map(({ action, detail }) => `${action} ${detail}`).reverse()
}

/** Adds the site for the user. Returns whether the user gets its telemetry. */
async function register(app: TestApp, user: string, name: string) {
  const person = app.user(user)
  await person.key()
  const { id } = await person.site(name)
  return async () => {
    const proof = await person.send('GET', `${SITES}/${id}/proof`)
    const { receives, state } = v.parse(SiteProof, proof.body)
    assert.equal(state, LOCAL.includes(name) ? 'impossible' : 'unproven', name)
    return receives
  }
}

async function sendBeacon(app: TestApp, origin: string): Promise<number> {
  const options = { headers: { origin }, body: { metrics: { lcp: 1_200 } } }
  return (await app.send('POST', '/v1/telemetry/rum', options)).status
}

describe('The telemetry of localhost and other names that nobody owns', () => {
  const app = freshly(() => open('https://geo.example'))

  it('goes to nobody on a server with a public name that several accounts share', async () => {
    await register(app, 'other', 'https://shop.example')
    for (const [n, name] of LOCAL.entries()) {
      const receives = await register(app, `mallory${n}`, name)
      assert.equal(await receives(), false, name)
      assert.equal(await sendBeacon(app, name), 403, name)
    }
    assert.equal(await sendBeacon(app, 'https://shop.example'), 204)
  })

  it('goes to the only account with sites, until another one adds a site', async () => {
    const receives = await register(app, 'ada', 'http://localhost:3000')
    await register(app, 'ada', 'https://shop.example')
    assert.equal(await receives(), true)
    assert.equal(await sendBeacon(app, 'http://localhost:3000'), 204)
    await register(app, 'kim', 'https://blog.example')
    assert.equal(await receives(), false)
    assert.equal(await sendBeacon(app, 'http://localhost:3000'), 403)
  })

  it('is in the audit log when another account ends or restores it', async () => {
    const names = ['http://localhost:3000', 'http://intranet']
    for (const name of names) await register(app, 'ada', name)
    const created = names.map((name) => `create_site ${name}`)
    assert.deepEqual(await actionsOf(app, 'ada'), created)
    const kim = app.user('kim')
    await kim.key()
    const { id } = await kim.site('http://localhost:3000')
    const lost = ['lose_site http://localhost:3000', 'lose_site http://intranet']
    assert.deepEqual(await actionsOf(app, 'ada'), [...created, ...lost])
    assert.deepEqual(await actionsOf(app, 'kim'), ['create_site http://localhost:3000'])
    const blog = await kim.site('https://blog.example')
    await kim.send('DELETE', `${SITES}/${id}`)
    assert.deepEqual(await actionsOf(app, 'ada'), [...created, ...lost])
    await kim.send('DELETE', `${SITES}/${blog.id}`)
    const gained = ['gain_site http://localhost:3000', 'gain_site http://intranet']
    assert.deepEqual(await actionsOf(app, 'ada'), [...created, ...lost, ...gained])
  })

  it('goes to the first account on a server that has such a name itself', async () => {
    for (const baseUrl of ['http://127.0.0.1:8787', 'http://geo', 'http://10.0.0.5:8787']) {
      await using app = await open(baseUrl)
      const ada = await register(app, 'ada', 'http://localhost:3000')
      const kim = await register(app, 'kim', 'http://localhost:3000')
      assert.deepEqual([await ada(), await kim()], [true, false])
      assert.equal(await sendBeacon(app, 'http://localhost:3000'), 204)
    }
  })
})
