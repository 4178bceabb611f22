import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { walkSystems } from '../../../lib/geo/asn/walk.ts'
import type { GeoDatabase } from '../../../lib/geo/database.ts'
import { operatorFiles } from '../../../lib/geo/files/source-files.ts'
import { openLibrary } from '../../../lib/geo/library.ts'
import { MINUTE_MS } from '../../../lib/parts/durations.ts'
import { mmdbBytes } from '../../support/geo-files.ts'
import { recordingLog } from '../../support/helpers.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openRecords } from '../open-file.ts'
import { as, open, systemsOf, texts } from './open-systems.ts'

const folder = tempFolder()

describe('the summary of an autonomous system', () => {
  it('counts a prefix as a whole for the country of its first address', async () => {
    const country = (code: string, name: string) => ({
      country: { iso_code: code, names: { en: name } },
    })
    const countries = {
      '10.0.0.0/25': country('GB', 'United Kingdom'),
      '10.0.0.128/25': country('FR', 'France'),
      '20.0.0.0/8': country('DE', 'Germany'),
      '2a00::/16': country('GB', 'United Kingdom'),
    }
    const places = await openRecords(countries, 'GeoLite2-City')
    const owners = await open({
      '10.0.0.0/24': as(7),
      '20.0.0.0/30': as(7),
      '30.0.0.0/32': as(7),
      '2a00::/20': as(7),
    })
    const system = await systemsOf([places, owners]).find(7)
    const none = { prefixes: 0, addresses: '0' }
    const large = { prefixes: 1, addresses: String(2n ** 108n) }
    assert.deepEqual(system?.summary, {
      organization: 'Owner of 7',
      ipv4: { prefixes: 3, addresses: 256 + 4 + 1 },
      ipv6: large,
      countries: [
        { code: 'GB', name: 'United Kingdom', ipv4: { prefixes: 1, addresses: 256 }, ipv6: large },
        { code: 'DE', name: 'Germany', ipv4: { prefixes: 1, addresses: 4 }, ipv6: none },
      ],
    })
  })

  it('has the first organization and the first domain that are known', async () => {
    const owners = await open({
      '10.0.0.0/24': { autonomous_system_number: 7 },
      '10.0.2.0/24': as(7, 'First'),
      '10.0.4.0/24': as(7, 'Second'),
    })
    const domain = { '10.0.4.0/24': { domain: 'seven.example' } }
    const domains = await openRecords(domain, 'GeoIP2-Domain')
    const { summary } = (await systemsOf([owners, domains]).find(7)) ?? {}
    assert.equal(summary?.organization, 'First')
    assert.equal(summary?.domain, 'seven.example')
  })
})

describe('the index of autonomous systems', () => {
  it('is made once for requests at the same time, and again after ten minutes without one', async () => {
    let walks = 0
    const database = await open({ '10.0.0.0/24': as(7) })
    const counting: GeoDatabase = {
      ...database,
      systems: (version) => {
        if (version === 4) walks += 1
        return database.systems(version)
      },
    }
    let time = 0
    const systems = systemsOf([counting], () => time)
    await Promise.all([systems.find(7), systems.find(7), systems.find(8)])
    assert.equal(walks, 1)
    time += 10 * MINUTE_MS - 1
    systems.dropIfUnused()
    await systems.find(7)
    assert.equal(walks, 1)
    time += 10 * MINUTE_MS
    systems.dropIfUnused()
    await systems.find(7)
    assert.equal(walks, 2)
  })

  it('is renewed when a file is replaced', async () => {
    const directory = join(folder, 'geo')
    const path = join(folder, 'replaced.mmdb')
    writeFileSync(path, mmdbBytes({ '10.0.0.0/24': as(7) }))
    const library = await openLibrary({
      findFiles: () => operatorFiles(directory, [path]),
      map: true,
      cacheBits: 8,
      regionCode: () => undefined,
      log: recordingLog(),
    })
    const found = async () => texts((await library.findSystem(7))?.ipv4 ?? assert.fail())
    assert.deepEqual(await found(), ['10.0.0.0/24'])
    writeFileSync(path, mmdbBytes({ '10.0.0.0/24': as(8), '20.0.0.0/8': as(7) }))
    await library.refresh()
    await library.refresh()
    assert.deepEqual(await found(), ['20.0.0.0/8'])
  })

  it('is not made of a tree with cycles, which is 503', async () => {
    const database = await open({ '10.0.0.0/24': as(7) })
    const damaged: GeoDatabase = {
      ...database,
      systems: () => ({ root: 0, nodeCount: 10, child: () => 1, asn: () => 0 }),
    }
    const { find, log } = systemsOf([damaged])
    await assert.rejects(find(7), { code: 'SERVICE_UNAVAILABLE' })
    await assert.rejects(find(7), { code: 'SERVICE_UNAVAILABLE' })
    const messages = log.events.map(({ message }) => message)
    assert.deepEqual(messages, ['cannot list the prefixes of autonomous systems'])
  })

  it('is made in steps', async () => {
    const records: Record<string, ReturnType<typeof as>> = {}
    for (let n = 0; n < 256; n++) records[`10.${n}.0.0/24`] = as(n + 1)
    const steps = [...walkSystems([(await open(records)).systems(4)], 4, () => {})]
    assert.ok(steps.length > 20, String(steps.length))
  })
})
