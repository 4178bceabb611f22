import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { freshScene } from '../support/scene/scene.ts'
import { limitOf, many, statuses } from './answers.ts'

const LOCATE = '/v1/ip/81.2.69.160'
const ORIGIN = 'https://shop.example'
const VISITOR = '198.51.100.30'
const OTHER = '198.51.100.31'

const app = freshScene()

const publishable = () => app.makeKey({ plan: 'free', type: 'publishable', origins: [ORIGIN] })

describe('a visitor of a page with a publishable key', () => {
  it('may send half of its requests, so that others can go on', async () => {
    const key = await publishable()
    const ask = (from: string) =>
      app.send('GET', LOCATE, { key, from, headers: { origin: ORIGIN } })
    assert.equal(limitOf(await ask(VISITOR)), '"per-visitor";q=5;w=60 "per-visitor";r=4;t=12')
    assert.deepEqual(await statuses(5, () => ask(VISITOR)), [...many(200, 4), 429])
    assert.equal((await ask(OTHER)).status, 200)
    assert.deepEqual(await statuses(5, () => ask(OTHER)), [...many(200, 4), 429])
    assert.equal(limitOf(await ask('198.51.100.32')), '"per-key";q=10;w=60 "per-key";r=0;t=6')
    app.pass(12_000)
    assert.equal((await ask(VISITOR)).status, 200)
  })

  it('does not spend the requests of the key once refused', async () => {
    const key = await publishable()
    const ask = (from: string) =>
      app.send('GET', LOCATE, { key, from, headers: { origin: ORIGIN } })
    await statuses(20, () => ask(VISITOR))
    assert.deepEqual(await statuses(5, () => ask(OTHER)), many(200, 5))
  })
})

describe('a batch of a visitor', () => {
  /** Counts as ten requests, so as all of the key's. */
  const ips = Array.from({ length: 1_000 }, () => '81.2.69.160')
  const open = async () => {
    const key = await publishable()
    const headers = { origin: ORIGIN }
    return {
      batch: (from: string, count: number) =>
        app.send('POST', '/v1/ip/batch', {
          key,
          from,
          headers,
          body: { ips: ips.slice(0, count) },
        }),
      ask: (from: string) => app.send('GET', LOCATE, { key, from, headers }),
    }
  }

  it('costs at most half of the requests of the key', async () => {
    const { ask, batch } = await open()
    const first = await batch(VISITOR, 1_000)
    assert.equal(first.status, 200)
    assert.equal(limitOf(first), '"per-visitor";q=5;w=60 "per-visitor";r=0;t=12')
    assert.equal((await batch(VISITOR, 1)).status, 429)
    assert.deepEqual(await statuses(6, () => ask(OTHER)), [...many(200, 5), 429])
  })

  it('costs what its addresses do, and once refused nothing', async () => {
    const { ask, batch } = await open()
    assert.equal(
      limitOf(await batch(VISITOR, 201)),
      '"per-visitor";q=5;w=60 "per-visitor";r=2;t=12',
    )
    const refused = await batch(VISITOR, 201)
    assert.equal(refused.status, 429)
    assert.equal(limitOf(refused), '"per-visitor";q=5;w=60 "per-visitor";r=2;t=12')
    await statuses(10, () => batch(VISITOR, 201))
    assert.deepEqual(await statuses(3, () => ask(VISITOR)), [...many(200, 2), 429])
    assert.deepEqual(await statuses(5, () => ask(OTHER)), many(200, 5))
    assert.equal((await batch('198.51.100.32', 201)).status, 429)
    app.pass(18_000)
    assert.equal((await batch('198.51.100.32', 201)).status, 200)
  })
})

describe('a visitor whom the plan refuses', () => {
  it('keeps its own requests', async () => {
    const key = await publishable()
    const ask = (from: string) =>
      app.send('GET', LOCATE, { key, from, headers: { origin: ORIGIN } })
    await statuses(5, () => ask(VISITOR))
    await statuses(4, () => ask('198.51.100.32'))
    assert.deepEqual(await statuses(9, () => ask(OTHER)), [200, ...many(429, 8)])
    app.pass(24_000)
    assert.deepEqual(await statuses(5, () => ask(OTHER)), [...many(200, 4), 429])
  })
})

describe('a client with a secret key', () => {
  it('has all of its requests', async () => {
    const key = await app.makeKey({ plan: 'free' })
    const ask = () => app.send('GET', LOCATE, { key, from: VISITOR })
    assert.deepEqual(await statuses(11, ask), [...many(200, 10), 429])
  })
})
