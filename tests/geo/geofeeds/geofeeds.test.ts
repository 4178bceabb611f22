import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { updateGeofeeds } from '../../../lib/geo/geofeeds/update-geofeeds.ts'
import { geoFiles } from '../../support/geo-files.ts'
import { NOON } from '../../support/helpers.ts'
import { sharedScene } from '../../support/scene/scene.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const LONDON = '81.2.69.160'
const folder = tempFolder()
const own = join(folder, 'own.csv')
writeFileSync(own, '')

const { city, asn } = geoFiles()
const env = { MERIDIAN_GEO: `${city},${asn}`, MERIDIAN_GEOFEEDS: `${own}=81.2.69.0/24` }
const app = sharedScene({ env }, async () => {
  await ada.key()
})
const ada = app.user('ada')

/** Updates the geofeed as the process of the server does, and lets the server notice. */
async function publish(text: string): Promise<void> {
  writeFileSync(own, text)
  const options = { acceptSmaller: false, now: NOON, onProgress: () => {} }
  const { geofeeds } = app.services.config.geo
  await updateGeofeeds(join(app.dataDir, 'geo'), geofeeds, options)
  for (let looks = 0; looks < 2; looks++) await app.services.geo.refresh()
}

async function lookUp() {
  const { status, body } = await ada.lookUp(LONDON)
  return { status, body: v.parse(GeolocationResult, body) }
}

describe('a server with a geofeed', () => {
  it('answers from it within its blocks, and follows a new version without a restart', async () => {
    const { location: before } = (await lookUp()).body
    assert.equal(before?.city, 'London')
    await publish(`${LONDON}/31,FR,,Paris,\n`)
    const { status, body } = await lookUp()
    const { country, city } = body.location ?? {}
    assert.deepEqual([status, country?.code, city], [200, 'FR', 'Paris'])
    assert.deepEqual(body.sources?.geo, ['geofeed'])
    await publish(`${LONDON}/31,GB,,London,\n`)
    assert.deepEqual((await lookUp()).body.sources?.geo, ['geofeed', 'maxmind'])
  })

  it('answers 404 for a network that has no location', async () => {
    await publish(`${LONDON}/31,,,,\n`)
    const { status, body } = await lookUp()
    assert.deepEqual([status, body.location, body.meta?.precision], [404, undefined, 'none'])
  })

  it('lists it in the databases without an attribution', async () => {
    const { body } = await app.send('GET', '/v1')
    assert.match(JSON.stringify(body), /geofeeds/)
  })
})
