import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findUserByEmail } from '../../lib/accounts/users.ts'
import { NOON, type TestApp } from '../support/helpers.ts'
import { visitPage } from '../support/scene/pages.ts'
import { freshScene } from '../support/scene/scene.ts'

const app = freshScene()
const ada = app.user('ada')

/** The metered caller for Ada, who has signed in. */
async function findAda({ services }: TestApp) {
  const user = await findUserByEmail(services.db, 'ada@example.com')
  assert.ok(user)
  return { userId: user.id, plan: services.plans.free, paid: null, key: null }
}

function lookUp(app: TestApp, cookie: string, text: string) {
  return visitPage(app, `/app/look-up?${new URLSearchParams({ ip: text })}`, { cookie })
}

describe('GET /app/look-up', () => {
  it('shows an address on a map that this service draws', async () => {
    const cookie = await ada.enter()
    const { status, html } = await lookUp(app, cookie, ' 81.2.69.160 ')
    assert.equal(status, 200)
    assert.match(html, /London, City of London, England, United Kingdom/)
    assert.match(
      html,
      /aria-label="Map of London[^"]*51\.5142° N, 0\.0931° W\) \(within 6 miles\)"/,
    )
    assert.match(html, /<circle class="point" cx="-0.0931" cy="-51.5142"/)
    const [path = ''] = /\/assets\/world-map\.[0-9a-f]{16}\.svg/.exec(html) ?? []
    const map = await app.app.fetch(new Request(`http://127.0.0.1:8787${path}`), {})
    assert.equal(map.status, 200)
    assert.equal(map.headers.get('content-type'), 'image/svg+xml')
    await map.body?.cancel()
  })

  it('counts as one request of the user, and says so', async () => {
    const cookie = await ada.enter()
    const counted = async () => app.services.meters.periodRequests(await findAda(app), NOON)
    assert.match(
      (await lookUp(app, cookie, '')).html,
      /Each look-up counts as one request of your plan/,
    )
    assert.equal(await counted(), 0)
    await lookUp(app, cookie, '81.2.69.160')
    assert.equal(await counted(), 1)
    await lookUp(app, cookie, '10.0.0.1')
    assert.equal(await counted(), 2)
  })

  it('says that nothing is known, or that there are no coordinates', async () => {
    const cookie = await ada.enter()
    const unknown = await lookUp(app, cookie, '10.0.0.1')
    assert.equal(unknown.status, 200)
    assert.match(unknown.html, /private, reserved or unused, or no database lists it yet/)
    assert.doesNotMatch(unknown.html, /<image/)
    const vague = await lookUp(app, cookie, '17.0.0.1')
    assert.match(vague.html, /United States/)
    assert.match(vague.html, /no coordinates, so no map is shown/)
  })

  it('refuses an invalid address without charging for it', async () => {
    const cookie = await ada.enter()
    for (const text of ['nope', '..', '.', 'me', '1.2.3.4/24', '"><script>alert(1)</script>']) {
      const { status, html } = await lookUp(app, cookie, text)
      assert.equal(status, 400, text)
      assert.match(html, /is neither an IPv4 address/)
      assert.ok(!html.includes('<script>alert'))
    }
    assert.equal(app.services.meters.periodRequests(await findAda(app), NOON), 0)
  })

  it('says that the result is reduced once all requests of the period are used', async () => {
    const cookie = await ada.enter()
    app.services.meters.open(await findAda(app), NOON).count(5_000)
    const { status, html } = await lookUp(app, cookie, '81.2.69.160')
    assert.equal(status, 200)
    assert.match(html, /this result contains only the country/)
    assert.doesNotMatch(html, /<image/)
  })

  it('says when to try again after too many look-ups', async () => {
    const cookie = await ada.enter()
    for (let n = 0; n < 10; n++) await lookUp(app, cookie, '81.2.69.160')
    const { status, html } = await lookUp(app, cookie, '81.2.69.160')
    assert.equal(status, 429)
    assert.match(html, /role="alert">Too many requests; try again in \d+ s\./)
    assert.match(html, /value="81\.2\.69\.160"/)
  })
})
