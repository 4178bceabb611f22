import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import type { Privacy } from '../../../lib/contract/geo/privacy.ts'
import { openAtlas } from '../../../lib/geo/atlas/atlas.ts'
import { writeAtlas } from '../../../lib/geo/atlas/compile.ts'
import { createAtlasKeeper } from '../../../lib/geo/atlas/keeper.ts'
import { openDatabase } from '../../../lib/geo/database.ts'
import { operatorFiles } from '../../../lib/geo/files/source-files.ts'
import { type Library, openLibrary } from '../../../lib/geo/library.ts'
import { joinFindings } from '../../../lib/geo/privacy/finding.ts'
import { silentLog } from '../../../lib/parts/log/log.ts'
import { ipv4FromBits } from '../../../lib/parts/net/address.ts'
import { mmdbBytes } from '../../support/geo-files.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const parent = tempFolder()
const ADDRESS = ipv4FromBits(0x0102_0304)
const regionCode = () => undefined
let count = 0
let directory: string
let place: string
let privacy: string
/** The names of the files for which an atlas was looked for. */
let adopted: string[][]

const placeNaming = (iso_code: string) => mmdbBytes({ '1.2.3.0/24': { country: { iso_code } } })
const privacyNaming = (provider_name: string) =>
  mmdbBytes(
    { '1.2.3.4/32': { is_anonymous: true, provider_name } },
    { databaseType: 'GeoIP-Anonymous-Plus' },
  )

beforeEach(() => {
  const folder = join(parent, String(count++))
  directory = join(folder, 'geo')
  mkdirSync(directory, { recursive: true })
  place = join(folder, 'place.mmdb')
  privacy = join(folder, 'privacy.mmdb')
  writeFileSync(place, placeNaming('DE'))
  writeFileSync(privacy, privacyNaming('One'))
  adopted = []
})

/** Opens a library with an atlas of the first version of the place. */
async function open(): Promise<Library> {
  const path = join(directory, 'test-atlas.bin')
  await writeAtlas(path, [await openDatabase(place, { map: false, regionCode })], () => {})
  const atlas = createAtlasKeeper({
    findAtlas: async (files) => {
      adopted.push(files.map(({ name }) => name))
      return openAtlas(readFileSync(path))
    },
    make: assert.fail,
    onFailure: assert.fail,
  })
  const findFiles = () => operatorFiles(directory, [privacy, place])
  return openLibrary({ findFiles, map: true, cacheBits: 8, regionCode, log: silentLog, atlas })
}

async function refreshTwice(library: Library): Promise<void> {
  await library.refresh()
  await library.refresh()
}

const providerOf = (library: Library) => library.findPrivacy(ADDRESS)?.privacy.provider

describe('a library with a file about privacy', () => {
  it('keeps it out of default look-ups and of the atlas', async () => {
    const library = await open()
    assert.deepEqual(adopted, [['place']])
    const [places, all] = [library.places(), library.list()].map((files) =>
      files.map(({ name }) => name),
    )
    assert.deepEqual(places, ['place'])
    assert.deepEqual(all, ['privacy', 'place'])
    assert.equal(library.prefix(ADDRESS, 'place'), '1.2.3.0/24')
    assert.equal(library.prefix(ADDRESS, 'place and privacy'), '1.2.3.4/32')
  })

  it('opens a new version, and keeps the atlas', async () => {
    const library = await open()
    writeFileSync(privacy, privacyNaming('Another'))
    await refreshTwice(library)
    assert.equal(providerOf(library), 'Another')
    assert.equal(adopted.length, 1)
    assert.equal(library.hasAtlas(), true)
  })

  it('refuses a bad version, and keeps the old one and the atlas', async () => {
    const library = await open()
    writeFileSync(privacy, 'no database')
    await refreshTwice(library)
    assert.deepEqual([providerOf(library), library.refused()], ['One', 1])
    assert.equal(adopted.length, 1)
    assert.equal(library.hasAtlas(), true)
  })

  it('adopts the atlas of a new place, even if it has refused a version about privacy', async () => {
    const library = await open()
    writeFileSync(privacy, 'no database')
    writeFileSync(place, placeNaming('FR'))
    await refreshTwice(library)
    assert.deepEqual(adopted, [['place'], ['place']])
  })

  it('adopts no atlas while a new place is refused', async () => {
    const library = await open()
    writeFileSync(place, 'no database')
    writeFileSync(privacy, privacyNaming('Another'))
    await refreshTwice(library)
    assert.equal(providerOf(library), 'Another')
    assert.equal(adopted.length, 1)
  })
})

const from = (source: string, privacy: Privacy) => ({ privacy, sources: [source] })

describe('what several databases state about privacy', () => {
  it('is nothing if none states anything', () => {
    assert.equal(joinFindings([]), undefined)
  })

  it('is what the only one states', () => {
    const only = from('maxmind', { vpn: true })
    assert.deepEqual(joinFindings([only]), only)
  })

  it('has a flag if one states it, with all who do', () => {
    const joined = joinFindings([
      from('ipinfo', { hosting: true, vpn: false, tor: false }),
      from('maxmind', { vpn: true }),
      from('ip2proxy', { vpn: true }),
    ])
    assert.deepEqual(joined, {
      privacy: { hosting: true, vpn: true, tor: false },
      sources: ['ipinfo', 'maxmind', 'ip2proxy'],
    })
  })

  it('leaves out a source whose statements are not in it', () => {
    const joined = joinFindings([from('ipinfo', { vpn: false }), from('maxmind', { vpn: true })])
    assert.deepEqual(joined, { privacy: { vpn: true }, sources: ['maxmind'] })
  })

  it('has the service and the provider of the first that names one, and each source once', () => {
    const joined = joinFindings([
      from('maxmind', { vpn: true, provider: 'One' }),
      from('ipinfo', { service: 'Two', provider: 'Three' }),
      { privacy: { hosting: true, service: 'Four' }, sources: ['aws', 'maxmind'] },
    ])
    assert.deepEqual(joined, {
      privacy: { hosting: true, vpn: true, service: 'Two', provider: 'One' },
      sources: ['maxmind', 'ipinfo', 'aws'],
    })
  })
})
