import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parsePosixTz, posixOffset } from '../../../lib/geo/posix-tz.ts'
import { parseTzif, readTzif, type Tzif, tzifOffset } from '../../../lib/geo/tzif.ts'
import * as oracle from './date-oracle.ts'

const ZONES = oracle.systemZones()
const NEEDS_FILES = { skip: !ZONES.includes('America/New_York') && 'needs tzdata' }

const [YEAR_1850, YEAR_1970] = [at('1850'), at('1970')]
const [YEAR_2038, YEAR_2040, YEAR_2060] = [at('2038'), at('2040'), at('2060')]

const RULES = [
  'UTC0',
  '<+0330>-3:30',
  '<-00>0:00:59',
  'EST5EDT,M3.2.0,M11.1.0',
  'IST-1GMT0,M10.5.0,M3.5.0/1',
  'NZST-12NZDT,M9.5.0,M4.1.0/3',
  '<-02>2<-01>,M3.5.0/-1,M10.5.0/0',
  'EET-2EEST,M3.4.4/50,M10.4.4/50',
  'LHST-10:30LHDT-11,M10.1.0,M4.1.0',
  'AAA-5:30BBB-6:15:00,M4.1.0/-167,M10.5.6/167:59:59',
  'AAA+3BBB,J59/0,J300/0:30',
  'AAA3BBB,59/0,J365/-24',
  'AAA3BBB,J60/0,364/12',
  'AAA3BBB,J300,J60/+2',
]

const ZIC = 'PATH="$PATH:/usr/sbin"; zic -b slim -d "$TARGET" "$SOURCE"'

describe('tzifOffset', () => {
  it('is what date says at any time since 1850', oracle.NEEDS_DATE, () => {
    const zones = new Map(ZONES.map((zone) => [zone, read(zone)]))
    const time = fc.integer({ min: YEAR_1850, max: YEAR_2038 })
    const times = fc.array(time, { minLength: 60, maxLength: 60 })
    const row = fc.tuple(fc.constantFrom(...ZONES), times)
    const rows = fc.array(row, { minLength: 60, maxLength: 60 })
    const property = fc.property(rows, (sample) => {
      const ask: oracle.Ask = (zone, time) => textAt(zones.get(zone), time)
      assert.deepEqual(oracle.disagreements(sample, ask), [])
    })
    fc.assert(property, { numRuns: 3, endOnFailure: true })
  })

  it('is what date says once only the rule of a file counts', oracle.NEEDS_DATE, () => {
    const zones = new Map(ZONES.map((zone) => [ruleOf(zone), zone]))
    const files = new Map([...zones.values()].map((zone) => [zone, read(zone)]))
    assert.ok(files.size > 20)
    const ask: oracle.Ask = (zone, time) => textAt(files.get(zone), time)
    assert.deepEqual(oracle.disagreements(rowsOf([...files.keys()], ask), ask), [])
  })

  it('is what date says for files whose rule replaces transitions', oracle.NEEDS_DATE, (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'meridian-tzif-'))
    t.after(() => rmSync(directory, { recursive: true }))
    const variables = { SOURCE: `${oracle.DIRECTORY}/tzdata.zi`, TARGET: directory }
    if (oracle.sh(ZIC, '', variables) === undefined) return t.skip('needs zic and tzdata.zi')
    const ruled = ZONES.filter((zone) => ruleOf(zone)?.includes(','))
    const zones = [...new Map(ruled.map((zone) => [`${bytesOf(zone)}`, zone])).values()]
    const files = new Map(zones.map((zone) => [zone, readTzif(join(directory, zone))]))
    const ask: oracle.Ask = (zone, time) => textAt(files.get(zone), time)
    const rows = zones.map((zone): oracle.Row => [zone, timesOf(read(zone))])
    assert.deepEqual(oracle.disagreements(rows, ask, { directory }), [])
  })

  it('uses the 32-bit data of a file of version 1', NEEDS_FILES, (t) => {
    const bytes = bytesOf('America/New_York')
    const [current, old] = [parseTzif(bytes), parseTzif(withByte(bytes, 4, 0))]
    assert.ok(current && old)
    assert.equal(old.rest, undefined)
    if (old.transitions.length === 0) return t.skip('needs files with data of version 1')
    for (const time of timesOf(current).filter((time) => time > YEAR_1970 && time < YEAR_2038)) {
      assert.equal(tzifOffset(old, time), tzifOffset(current, time))
    }
  })
})

describe('parseTzif', () => {
  it('refuses a file that is cut off anywhere', NEEDS_FILES, () => {
    const bytes = bytesOf('America/New_York')
    for (let length = 0; length < bytes.length; length++) {
      assert.equal(parseTzif(bytes.subarray(0, length)), undefined, `${length} bytes`)
    }
  })

  it('gives undefined or a usable zone for a file with wrong bytes', NEEDS_FILES, () => {
    const bytes = bytesOf('America/New_York')
    const change = fc.tuple(fc.nat({ max: bytes.length - 1 }), fc.nat({ max: 255 }))
    const changes = fc.array(change, { minLength: 1, maxLength: 4 })
    const property = fc.property(changes, (list) => {
      const changed = list.reduce((file, [index, value]) => withByte(file, index, value), bytes)
      assertUsable(parseTzif(changed))
    })
    fc.assert(property, { numRuns: 500 })
    for (const index of bytes.keys()) {
      assertUsable(parseTzif(withByte(bytes, index, (bytes[index] ?? 0) ^ 0xff)))
    }
  })

  it('gives undefined for what is no zone file', () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => parseTzif(bytes) === undefined))
    const path = new URL(import.meta.url).pathname
    for (const other of [path, tmpdir(), '/nowhere', '\0', 'a'.repeat(5000), '/dev/zero']) {
      assert.equal(readTzif(other), undefined)
    }
  })

  it('refuses transitions that are out of order', NEEDS_FILES, () => {
    const bytes = bytesOf('America/New_York')
    const firstTime = bytes.indexOf('TZif', 1) + 44
    assert.equal(parseTzif(withByte(bytes, firstTime, 0x7f)), undefined)
  })

  it('refuses files that count leap seconds', NEEDS_FILES, () => {
    const bytes = bytesOf('America/New_York')
    assert.equal(parseTzif(withByte(bytes, 31, 1)), undefined)
    assert.equal(readTzif(`${oracle.DIRECTORY}/right/America/New_York`), undefined)
  })
})

describe('posixOffset', () => {
  it('is what date says for any form of rule', oracle.NEEDS_DATE, () => {
    const rules = new Map(RULES.map((rule) => [rule, parsePosixTz(rule)]))
    const ask: oracle.Ask = (rule, time) => {
      const parsed = rules.get(rule)
      return parsed && toText(posixOffset(parsed, time))
    }
    assert.deepEqual(oracle.disagreements(rowsOf(RULES, ask), ask), [])
  })

  it('knows daylight saving that lasts all year', () => {
    // As RFC 9636 section 3.3.1 has it; the C library leaves hours around the new year out.
    for (const [text, hours] of [
      ['XXX3EDT4,0/0,J365/23', -4],
      ['EST5EDT,0/0,J365/25', -4],
      ['JST-9JDT,0/0,J365/25', 10],
    ] as const) {
      const rule = parsePosixTz(text)
      assert.ok(rule)
      for (let time = YEAR_2040; time < YEAR_2060; time += 3 * 3600) {
        assert.equal(posixOffset(rule, time), hours * 3600, `${text} @${time}`)
      }
    }
  })

  it('takes no other text', () => {
    const dates = ['M3.2.0', 'M13.1.0,M1.1.0', 'M0.1.0,M1.1.0', 'M3.6.0,M1.1.0', 'M3.0.0,M1.1.0']
    const days = ['M3.2.7,M1.1.0', 'J0,J9', 'J366,J9', '366,9', '1,2,3', '1,2/168', '1,2/-168', ',']
    const rules = [...dates, ...days].map((text) => `EST5EDT,${text}`)
    const names = ['', 'EST', 'E5', '<EST5', ':UTC', 'UTC0 ', 'UTC0\0']
    const offsets = ['EST25', 'EST5:60', 'EST5EDT', 'EST5EDT25,1,2']
    for (const text of [...rules, ...names, ...offsets]) {
      assert.equal(parsePosixTz(text), undefined, text)
    }
  })
})

/** Epoch seconds. */
function at(year: string): number {
  return Date.parse(year) / 1000
}

function bytesOf(zone: string): Buffer {
  return readFileSync(`${oracle.DIRECTORY}/${zone}`)
}

function read(zone: string): Tzif | undefined {
  return readTzif(`${oracle.DIRECTORY}/${zone}`)
}

function ruleOf(zone: string): string | undefined {
  return bytesOf(zone).toString('latin1').split('\n').at(-2)
}

function rowsOf(zones: readonly string[], ask: oracle.Ask): oracle.Row[] {
  return zones.map((zone) => [zone, oracle.timesAround(ask, zone, YEAR_2040, YEAR_2060)])
}

function textAt(file: Tzif | undefined, time: number): string | undefined {
  return file && toText(tzifOffset(file, time))
}

function toText(seconds: number): string {
  const time = new Date(Math.abs(seconds) * 1000).toISOString().slice(11, 19)
  return `${seconds < 0 ? '-' : '+'}${time}`
}

function withByte(bytes: Buffer, index: number, value: number): Buffer {
  const changed = Buffer.from(bytes)
  changed[index] = value
  return changed
}

/** Both sides of each transition. */
function timesOf(file: Tzif | undefined): number[] {
  return file?.transitions.flatMap(({ time }) => [time - 1, time]) ?? []
}

function assertUsable(file: Tzif | undefined): void {
  if (file === undefined) return
  for (const time of [YEAR_1850, YEAR_1970, YEAR_2038, YEAR_2060, -(2 ** 59), 2 ** 59]) {
    const offset = tzifOffset(file, time)
    assert.ok(offset > -26 * 3600 && offset < 26 * 3600, `${offset}`)
  }
}
