import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { createOffsets, timezoneData, utcOffset, zoneAt } from '../../../lib/geo/timezones.ts'
import {
  type Ask,
  DIRECTORY,
  disagreements,
  NEEDS_DATE,
  type Row,
  systemZones,
} from './date-oracle.ts'

const ZONES = [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', ...systemZones()])]
const SHARED_ZONES = ZONES.filter((zone) => fs.existsSync(`${DIRECTORY}/${zone}`))

// New York and Paris change their clocks at these moments of 2026.
const CHANGES = ['2026-03-08T07:00Z', '2026-03-29T01:00Z', '2026-10-25T01:00Z', '2026-11-01T06:00Z']
const BETWEEN = [at('2027-01-15T00:00Z'), at('2027-07-15T00:00Z')]
const TIMES = [...CHANGES.flatMap((text) => [at(text) - 1, at(text)]), ...BETWEEN]

const system = createOffsets({ directories: [DIRECTORY], runtimeRelease: '1970a' })
const runtime = createOffsets({ directories: [], runtimeRelease: '1970a' })
const ROOT = fs.mkdtempSync(join(tmpdir(), 'meridian-'))
after(() => fs.rmSync(ROOT, { recursive: true }))

describe('utcOffset', () => {
  it('is what date says in every zone around changes of the clocks', NEEDS_DATE, (t) => {
    const { source, release } = timezoneData()
    t.diagnostic(`${SHARED_ZONES.length} of ${ZONES.length} zones; used: ${source} ${release}`)
    const rows = SHARED_ZONES.map((zone): Row => [zone, TIMES])
    // Where the system's data are too old to be used, this is about those data all the same.
    const used = source === 'system' ? { utcOffset } : system
    const ask: Ask = (zone, time) => used.utcOffset(zone, time * 1000)
    assert.deepEqual(disagreements(rows, ask, { format: '%:z' }), [])
  })

  it('answers out of Intl much like the system', NEEDS_DATE, () => {
    const wrong = ZONES.filter((zone) =>
      TIMES.some(
        (time) => runtime.utcOffset(zone, time * 1000) !== system.utcOffset(zone, time * 1000),
      ),
    )
    assert.ok(wrong.length <= ZONES.length / 10, `${wrong}`) // their releases may differ
  })

  it('flips at the minute of the change, also when asked one millisecond before', () => {
    for (const [zone, change, before, after] of [
      ['America/New_York', '2026-03-08T07:00Z', '-05:00', '-04:00'],
      ['America/St_Johns', '2026-03-08T05:30Z', '-03:30', '-02:30'],
      ['Europe/Paris', '2026-10-25T01:00Z', '+02:00', '+01:00'],
    ] as const) {
      const now = Date.parse(change)
      assert.equal(utcOffset(zone, now - 1), before)
      assert.equal(utcOffset(zone, now), after)
      assert.equal(utcOffset(zone, now - 1), before, 'the clock was set back')
    }
  })

  it('knows offsets of half and quarter hours and writes UTC as +00:00', () => {
    const now = Date.parse('2026-07-01T00:00Z')
    const zones = ['Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Chatham', 'UTC', 'Etc/GMT']
    const expected = ['+05:45', '+10:30', '+12:45', '+00:00', '+00:00']
    for (const offsets of [{ utcOffset }, runtime]) {
      assert.deepEqual(
        zones.map((zone) => offsets.utcOffset(zone, now)),
        expected,
      )
    }
  })

  it('drops the seconds of historic offsets', () => {
    for (const offsets of [{ utcOffset }, runtime]) {
      assert.equal(offsets.utcOffset('Africa/Monrovia', 0), '-00:44')
      assert.equal(offsets.utcOffset('Africa/Abidjan', Date.parse('1900-01-01')), '-00:16')
    }
    const { make, offsets } = makeDirectory()
    make('Seconds', ruleFile('AAA0:00:59'))
    assert.equal(offsets().utcOffset('Seconds', 0), '+00:00')
  })

  it('gives undefined for zones that nobody knows, however many', () => {
    for (const zone of ['', 'Mars/Olympus', '__proto__', 'constructor', 'Europe/Berlin ']) {
      assert.equal(utcOffset(zone, 0), undefined, zone)
      assert.equal(utcOffset(zone, 0), undefined, zone)
    }
    for (let i = 0; i < 3000; i++) assert.equal(utcOffset(`Mars/${i}`, 0), undefined)
    assert.equal(utcOffset('Europe/Berlin', 0), '+01:00')
  })
})

describe('createOffsets', () => {
  it('uses the system where its release is at least as new as that of the runtime', () => {
    for (const [file, text, runtimeRelease, source, release] of [
      ['tzdata.zi', '# version 2026f\n# redo\n', '2026c', 'system', '2026f'],
      ['+VERSION', '2026f\n', '2026f', 'system', '2026f'],
      ['version', '2027a', '2026f', 'system', '2027a'],
      ['tzdata.zi', '# version 2026za', '2026z', 'system', '2026za'],
      ['tzdata.zi', '# version 2026b', '2026c', 'runtime', '2026c'],
      ['tzdata.zi', '# version 2026f', undefined, 'runtime', 'unknown'],
      ['tzdata.zi', '# version unknown', '2026c', 'runtime', '2026c'],
      ['zone.tab', '# version 2026f', '2026c', 'runtime', '2026c'],
    ] as const) {
      const { path, make, offsets } = makeDirectory('')
      make(file, text)
      make('Europe/Berlin', ruleFile('AAA-9'))
      const { utcOffset, timezoneData } = offsets({
        directories: ['/nowhere', path],
        runtimeRelease,
      })
      assert.deepEqual(timezoneData(), { source, release }, text)
      assert.equal(utcOffset('Europe/Berlin', 0), source === 'system' ? '+09:00' : '+01:00', text)
    }
  })

  it('falls back to Intl for a zone that the system lacks, unknown to both is undefined', () => {
    const { make, offsets } = makeDirectory()
    make('Europe/Paris', 'TZif and no more')
    const { utcOffset } = offsets()
    const zones = ['Europe/Berlin', 'Europe/Paris', 'europe/rome', 'Europe', 'Mars/Olympus']
    const expected = ['+01:00', '+01:00', '+01:00', undefined, undefined]
    assert.deepEqual(
      zones.map((zone) => utcOffset(zone, 0)),
      expected,
    )
  })

  it('reads a zone once, also one that is not there', () => {
    const { make, path, offsets } = makeDirectory()
    make('Mars/Base', ruleFile('AAA-9'))
    const { utcOffset } = offsets()
    assert.equal(utcOffset('Mars/Base', 0), '+09:00')
    assert.equal(utcOffset('Mars/Camp', 0), undefined)
    fs.renameSync(join(path, 'Mars/Base'), join(path, 'Mars/Camp'))
    assert.equal(utcOffset('Mars/Base', 86_400_000), '+09:00')
    assert.equal(utcOffset('Mars/Camp', 86_400_000), undefined)
  })

  it('never reads outside the directory, nor what is no zone in it', () => {
    const { make, path, offsets } = makeDirectory()
    const names = ['../Out', 'A/../../Out', './In', 'A/./In', '/In', 'In/', 'A//In', 'A/B/C/In']
    const others = ['', '.', '..', 'In\0', 'In\n', 'In.tab', 'localtime', 'right/In', `${path}/In`]
    const files = ['../Out', 'In', 'A/In', 'A/B/C/In', 'In.tab', 'localtime', 'right/In']
    for (const file of files) make(file, ruleFile('AAA-9'))
    make('Large', Buffer.concat([ruleFile('AAA-9'), Buffer.alloc(65_536)]))
    const { utcOffset } = offsets()
    for (const name of [...names, ...others]) assert.equal(utcOffset(name, 0), undefined, name)
    assert.equal(utcOffset('Large', 0), undefined)
    assert.equal(utcOffset('In', 0), '+09:00')
    assert.equal(utcOffset('A/In', 0), '+09:00')
  })
})

describe('zoneAt', () => {
  it('finds the zone of a place', () => {
    assert.equal(zoneAt(51.5142, -0.0931), 'Europe/London')
    assert.equal(zoneAt(-33.87, 151.21), 'Australia/Sydney')
    assert.equal(zoneAt(0, 0), 'Etc/GMT')
  })

  it('gives a known zone everywhere, the poles and the date line included', () => {
    for (let latitude = -90; latitude <= 90; latitude += 2.5) {
      for (let longitude = -180; longitude <= 180; longitude += 2.5) {
        assert.ok(utcOffset(zoneAt(latitude, longitude) ?? '', 0), `${latitude}, ${longitude}`)
      }
    }
  })

  it('gives undefined outside the globe', () => {
    assert.equal(zoneAt(90.1, 0), undefined)
    assert.equal(zoneAt(0, -180.1), undefined)
    assert.equal(zoneAt(Number.NaN, 0), undefined)
    assert.equal(zoneAt(0, Number.POSITIVE_INFINITY), undefined)
  })
})

/** Epoch seconds. */
function at(text: string): number {
  return Date.parse(text) / 1000
}

/** A zone file without transitions: empty data for version 1, one type, the rule. */
function ruleFile(rule: string): Buffer {
  const file = Buffer.alloc(98)
  file.write('TZif2')
  file.write('TZif2', 44)
  file.writeUInt32BE(1, 80) // types
  file.writeUInt32BE(4, 84) // bytes of their names
  file.write('AAA', 94)
  return Buffer.concat([file, Buffer.from(`\n${rule}\n`)])
}

function makeDirectory(release = '# version 2026f') {
  const path = join(fs.mkdtempSync(join(ROOT, 'test-')), 'zoneinfo')
  const make = (name: string, content: string | Buffer) => {
    fs.mkdirSync(dirname(join(path, name)), { recursive: true })
    fs.writeFileSync(join(path, name), content)
  }
  make('tzdata.zi', release)
  const offsets = (options: Partial<Parameters<typeof createOffsets>[0]> = {}) =>
    createOffsets({ directories: [path], runtimeRelease: '2026c', ...options })
  return { path, make, offsets }
}
