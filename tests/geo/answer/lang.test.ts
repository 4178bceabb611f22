import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { codeOf, NOON } from '../../support/helpers.ts'
import { sharedScene } from '../../support/scene/scene.ts'

const app = sharedScene({}, async () => {
  await ada.key()
})
const ada = app.user('ada')

const LONDON = '/v1/ip/81.2.69.160'
const get = async (path: string) => {
  const { status, body } = await ada.send('GET', path)
  assert.equal(status, 200)
  return v.parse(GeolocationResult, body)
}

describe('lang', () => {
  it('replaces the names that a database has in the language, and nothing else', async () => {
    const [usual, german] = [await get(LONDON), await get(`${LONDON}?lang=de`)]
    const { location, meta, ...rest } = usual
    assert.ok(location?.country)
    assert.deepEqual(german, {
      ...rest,
      location: { ...location, country: { ...location.country, name: 'Vereinigtes Königreich' } },
      meta: { ...meta, requestId: german.meta?.requestId },
    })
  })

  it('is English by default', async () => {
    const [usual, english] = [await get(LONDON), await get(`${LONDON}?lang=en`)]
    assert.deepEqual({ ...english, meta: usual.meta }, usual)
  })

  it('also applies to fields, and to batches', async () => {
    assert.deepEqual(await fieldsOf(`${LONDON}?lang=ja&fields=location.city`), {
      location: { city: 'ロンドン' },
    })
    const body = { ips: ['81.2.69.160', '9.0.0.1'], lang: 'de', fields: ['location.country.name'] }
    const answer = await ada.send('POST', '/v1/ip/batch', body)
    assert.deepEqual(Object(answer.body).results, [
      { location: { country: { name: 'Vereinigtes Königreich' } } },
      { location: { country: { name: 'Österreich' } } },
    ])
  })

  it('applies to an answer that the cap reduces', async () => {
    const free = await app.makeKey({ plan: 'free', email: 'free@example.com' })
    const caller = app.services.keys.find(free, NOON)
    assert.ok(caller)
    app.services.meters.open({ ...caller, key: caller }, NOON).count(5_000)
    const answer = await app.send('GET', `${LONDON}?lang=de`, { key: free })
    const { location, meta } = v.parse(GeolocationResult, answer.body)
    assert.deepEqual([location?.country?.name, meta?.degraded], ['Vereinigtes Königreich', true])
  })

  for (const lang of ['', 'xx', 'DE', 'de,fr', 'pt']) {
    it(`refuses "${lang}"`, async () => {
      const answer = await ada.lookUp(`81.2.69.160?lang=${lang}`)
      assert.equal(codeOf(answer), 'BAD_REQUEST')
    })
  }
})

async function fieldsOf(path: string): Promise<unknown> {
  return (await ada.send('GET', path)).body
}
