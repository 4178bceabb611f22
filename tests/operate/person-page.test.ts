import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { write } from '../support/database/sql.ts'
import { NOON } from '../support/helpers.ts'
import { freshScene } from '../support/scene/scene.ts'
import { nextOf, personPath } from './operator.ts'

const app = freshScene()
const ada = app.user('ada')
const olga = app.operator('olga')

const numbersIn = (html: string, pattern: RegExp) =>
  [...html.matchAll(pattern)].map(([, n]) => Number(n))

/** Adds a key and a site of this number, which are newer than those of lower numbers. */
const addKeyAndSite = (userId: string, n: number) =>
  write(
    app,
    `INSERT INTO api_keys (id, user_id, hash, name, prefix, type, created_at)
      VALUES ('key-${n}', '${userId}', 'hash-${n}', 'key ${n}', 'prefix', 'secret', ${NOON + n});
    INSERT INTO sites (id, user_id, name, host, created_at)
      VALUES ('site-${n}', '${userId}', 'https://${n}.example', '${n}.example', ${NOON + n})`,
  )

describe('the page about a person', () => {
  it('shows the account with its keys, sites, usage and audit rows', async () => {
    await ada.submit('/app/sites', { name: 'https://shop.example' })
    const key = await ada.key({ plan: 'free' })
    await ada.lookUp()
    const { status, html } = await olga.visit(await personPath(ada))
    assert.equal(status, 200)
    assert.match(html, /<h1>ada@example\.com<\/h1>/)
    assert.match(html, /Free \(assigned\)/)
    assert.match(html, /1 of 5,000/)
    assert.match(html, />Type<\/th>.*>Secret<\/td>/)
    assert.ok(html.includes(key.slice(0, 16)))
    assert.ok(!html.includes(key))
    assert.match(html, />15 Jan, 12:00</, 'the last use of the key')
    assert.match(html, /https:\/\/shop\.example/)
    assert.match(html, /Site added/)
  })

  it('has one layout for all its sections', async () => {
    const { html } = await olga.visit(await personPath(ada))
    const main = html.slice(html.indexOf('<main'))
    const titles = [...main.matchAll(/<section class="group[^>]*><div><h2[^>]*>([^<]*)/g)]
    assert.deepEqual(
      titles.map(([, title]) => title),
      ['Account', 'Plan', 'Access', 'Danger zone', 'Keys', 'Sites', 'Audit log'],
    )
    assert.equal(main.match(/<h2/g)?.length, titles.length)
  })

  it('shows 50 keys and 50 sites at a time, oldest first', async () => {
    const { id } = await ada.row()
    for (let n = 0; n < 120; n++) await addKeyAndSite(id, n)
    const path = await personPath(ada)
    const query = (at: number) =>
      `${path}?${new URLSearchParams({ keys: `${at}`, sites: `${at}` })}`
    const pages = await Promise.all([path, query(50), query(100)].map((at) => olga.visit(at)))
    const keys = pages.map(({ html }) => numbersIn(html, />key (\d+)</g))
    const sites = pages.map(({ html }) => numbersIn(html, />https:\/\/(\d+)\.example</g))
    assert.equal(nextOf(pages[0]?.html ?? ''), `${path}?keys=50&sites=0`)
    assert.equal(nextOf(pages[2]?.html ?? ''), undefined)
    const all = Array.from({ length: 120 }, (_, n) => n)
    const shown = [all.slice(0, 50), all.slice(50, 100), all.slice(100)]
    assert.deepEqual({ keys, sites }, { keys: shown, sites: shown })
    assert.equal((await olga.visit(`${path}?keys=-1`)).status, 400)
  })

  it('says that the plan comes from Stripe', async () => {
    await ada.key({ plan: 'free' })
    const { id } = await ada.row()
    const sql = `
      INSERT INTO billing_customers (user_id, customer_id, created_at) VALUES ('${id}', 'cus_1', 0);
      INSERT INTO subscriptions (user_id, id, item_id, plan, status, period_start, period_end, overages)
      VALUES ('${id}', 'sub_1', 'si_1', 'starter', 'past_due', ${NOON - 1}, ${NOON + 1}, 0)`
    await write(app, sql)
    const { html } = await olga.visit(await personPath(ada))
    assert.match(html, /Starter \(Stripe, past due\)/)
    assert.match(html, /<dt>Assigned plan<\/dt><dd>Free/)
  })

  it('keeps what ends the account apart from what helps its owner', async () => {
    const { html } = await olga.visit(await personPath(ada))
    const [before = '', danger = ''] = html.split('<section class="group danger"')
    const asks = (text: string) =>
      [...text.matchAll(/<a class="button quiet[^"]*" href="[^"]*\/people\/[^/"]+\/([\w-]+)/g)].map(
        ([, name]) => name,
      )
    assert.deepEqual(asks(before), ['sign-out', 'link', 'role'])
    assert.deepEqual(asks(danger), ['disable', 'delete'])
    const other = await olga.visit(await personPath(olga))
    assert.doesNotMatch(other.html, /Danger zone/)
  })

  it('offers nothing against oneself', async () => {
    const { html } = await olga.visit(await personPath(olga))
    assert.match(html, /Sign out everywhere…/)
    assert.doesNotMatch(html, /Disable…|Delete…|operator…/)
  })

  it('does not exist for unknown ids', async () => {
    for (const id of ['nobody', '%00', "'", 'x'.repeat(2_000)]) {
      for (const path of ['', '/disable', '/plan?to=pro'])
        assert.equal((await olga.visit(`/app/operate/people/${id}${path}`)).status, 404, id)
      const posted = await olga.submit(`/app/operate/people/${id}/disable`)
      assert.equal(posted.status, 404, id)
    }
  })
})
