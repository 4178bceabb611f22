import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { ApiKeyCreated } from '../../lib/contract/account/account-schemas.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { readColumn, readValue } from '../support/database/sql.ts'
import { codeOf } from '../support/helpers.ts'
import { freshScene } from '../support/scene/scene.ts'

/* draft-ietf-httpapi-idempotency-key-header, section 2: what a server does with a repeated key. */

const app = freshScene()
const ada = app.user('ada')
const eve = app.user('eve')

const KEYS = '/v1/account/me/keys'
const SITES = '/v1/account/me/sites'
const keyed = (id: string) => ({ headers: { 'idempotency-key': id } })

describe('Idempotency-Key', () => {
  it('creates one key for two requests, and shows its text in both answers', async () => {
    const [first, second] = [
      await ada.send('POST', KEYS, { name: 'Shop' }, keyed('1')),
      await ada.send('POST', KEYS, { name: 'Shop' }, keyed('1')),
    ]
    assert.deepEqual([first.status, second.status], [201, 201])
    assert.deepEqual(second.body, first.body)
    assert.deepEqual(await readColumn(app, 'SELECT name FROM api_keys'), ['Shop'])
    const audited = "SELECT count(*) FROM audit_log WHERE action = 'create_key'"
    assert.equal(await readValue(app, audited), 1)
  })

  it('shows a key no more once it is revoked, and makes no other', async () => {
    const send = () => ada.send('POST', KEYS, { name: 'Shop' }, keyed('1'))
    const ids = [await send(), await send()].map(({ body }) => v.parse(ApiKeyCreated, body).id)
    assert.equal(ids[1], ids[0])
    await ada.send('DELETE', `${KEYS}/${ids[0]}`)
    assert.deepEqual(await readColumn(app, 'SELECT answer FROM kept_answers'), [''])
    const late = await send()
    assert.deepEqual([late.status, codeOf(late)], [422, 'IDEMPOTENCY_KEY_REUSED'])
    assert.equal(await readValue(app, 'SELECT count(*) FROM api_keys'), 0)
    app.pass(DAY_MS)
    assert.equal((await send()).status, 201)
  })

  it('registers one site for requests that arrive at the same moment', async () => {
    const body = { name: 'https://shop.example' }
    const answers = await Promise.all(
      ['1', '1', '1'].map((id) => ada.send('POST', SITES, body, keyed(id))),
    )
    assert.deepEqual(new Set(answers.map(({ text }) => text)).size, 1)
    assert.equal(answers[0]?.status, 201)
    assert.equal(await readValue(app, 'SELECT count(*) FROM sites'), 1)
  })

  it('is refused with another body, and if it is malformed', async () => {
    await ada.send('POST', KEYS, { name: 'Shop' }, keyed('1'))
    const other = await ada.send('POST', KEYS, { name: 'Other' }, keyed('1'))
    assert.deepEqual([other.status, codeOf(other)], [422, 'IDEMPOTENCY_KEY_REUSED'])
    for (const id of ['', 'x'.repeat(256), 'é']) {
      const malformed = await ada.send('POST', KEYS, { name: 'Shop' }, keyed(id))
      assert.deepEqual([malformed.status, codeOf(malformed)], [400, 'BAD_REQUEST'])
    }
    assert.equal(await readValue(app, 'SELECT count(*) FROM api_keys'), 1)
  })

  it('belongs to one operation and one credential', async () => {
    await ada.send('POST', KEYS, { name: 'Shop' }, keyed('1'))
    const site = await ada.send('POST', SITES, { name: 'https://shop.example' }, keyed('1'))
    assert.equal(site.status, 201)
    assert.equal((await eve.send('POST', KEYS, { name: 'Shop' }, keyed('1'))).status, 201)
    const limited = await ada.key({ plan: 'free', scopes: ['account:write'] })
    const body = { name: 'Shop', scopes: ['account:write'] }
    const other = await app.send('POST', KEYS, { key: limited, body, ...keyed('1') })
    assert.notEqual(other.status, 201, 'it gets no key that can do more')
    assert.equal(await readValue(app, 'SELECT count(*) FROM api_keys'), 3)
  })

  it('is forgotten after a day', async () => {
    const create = () => ada.send('POST', KEYS, { name: 'Shop' }, keyed('1'))
    const first = await create()
    app.pass(DAY_MS - 1)
    assert.deepEqual((await create()).body, first.body)
    app.pass(1)
    assert.notDeepEqual((await create()).body, first.body)
  })

  it('is tried again after an error', async () => {
    const name = { name: 'https://shop.example' }
    await ada.site(name.name)
    const refused = await ada.send('POST', SITES, name, keyed('1'))
    assert.deepEqual([refused.status, codeOf(refused)], [400, 'SITE_EXISTS'])
    const id = await readValue(app, 'SELECT id FROM sites')
    await ada.send('DELETE', `${SITES}/${id}`)
    assert.equal((await ada.send('POST', SITES, name, keyed('1'))).status, 201)
  })

  it('rotates a key once, and shows the new one in both answers', async () => {
    const made = await ada.send('POST', KEYS, { name: 'Shop' })
    const id = await readValue(app, 'SELECT id FROM api_keys')
    assert.equal(made.status, 201)
    const rotate = () => ada.send('POST', `${KEYS}/${id}/rotate`, {}, keyed('1'))
    const first = await rotate()
    assert.equal(first.status, 201)
    assert.deepEqual((await rotate()).body, first.body)
    const other = await ada.send('POST', `${KEYS}/${'0'.repeat(32)}/rotate`, {}, keyed('1'))
    assert.equal(other.status, 422)
  })

  it('is not needed', async () => {
    for (const name of ['One', 'Two']) await ada.send('POST', KEYS, { name })
    assert.deepEqual(await readColumn(app, 'SELECT name FROM api_keys ORDER BY name'), [
      'One',
      'Two',
    ])
  })
})
