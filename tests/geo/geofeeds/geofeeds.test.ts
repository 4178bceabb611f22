import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { GeofeedSetting } from '../../../lib/config/geofeed-setting.ts'
import { updateGeofeeds } from '../../../lib/geo/geofeeds/update-geofeeds.ts'
import { geoFiles } from '../../support/geo-files.ts'
import { makeApp, NOON, type TestApp } from '../../support/helpers.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const LONDON = '81.2.69.160'
const folder = tempFolder()
const own = join(folder, 'own.csv')

let app: TestApp
let key: string
before(async () => {
  const { city, asn } = geoFiles()
  writeFileSync(own, '')
  app = await makeApp({
    env: { MERIDIAN_GEO: `${city},${asn}`, MERIDIAN_GEOFEEDS: `${own}=81.2.69.0/24` },
  })
  key = await app.makeKey()
})
after(() => app.close())

/** Updates the geofeed as the process of the server does, and lets the server notice. */
async function publish(text: string): Promise<void> {
  writeFileSync(own, text)
  const settings: readonly GeofeedSetting[] = app.services.config.geo.geofeeds
  const options = { acceptSmaller: false, now: NOON, onProgress: () => {} }
  await updateGeofeeds(join(app.dataDir, 'geo'), settings, options)
  for (let looks = 0; looks < 2; looks++) await app.services.geo.refresh()
}

async function lookUp() {
  const { status, body } = await app.send('GET', `/v1/ip/${LONDON}`, { key })
  // safe: `send` has checked the body against the contract
  return { status, body: body as unknown as Answer }
}

interface Answer {
  readonly location?: { readonly city?: string; readonly country: { readonly code: string } }
  readonly sources?: { readonly geo?: readonly string[] }
  readonly meta: { readonly precision: string }
}

describe('a server with a geofeed', () => {
  it('answers from it within its blocks, and follows a new version without a restart', async () => {
    const { location: before } = (await lookUp()).body
    assert.equal(before?.city, 'London')
    await publish(`${LONDON}/31,FR,,Paris,\n`)
    const { status, body } = await lookUp()
    assert.deepEqual(
      [status, body.location?.country.code, body.location?.city],
      [200, 'FR', 'Paris'],
    )
    assert.deepEqual(body.sources?.geo, ['geofeed'])
    await publish(`${LONDON}/31,GB,,London,\n`)
    assert.deepEqual((await lookUp()).body.sources?.geo, ['geofeed', 'maxmind'])
  })

  it('answers 404 for a network that has no location', async () => {
    await publish(`${LONDON}/31,,,,\n`)
    const { status, body } = await lookUp()
    assert.deepEqual([status, body.location, body.meta.precision], [404, undefined, 'none'])
  })

  it('lists it in the databases without an attribution', async () => {
    const { body } = await app.send('GET', '/v1')
    assert.match(JSON.stringify(body), /geofeeds/)
  })
})
