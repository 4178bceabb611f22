import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Address, ipv4FromBits, parseAddress } from '../../../lib/address.ts'
import { createAnswers } from '../../../lib/geo/answers.ts'
import type { GeoDatabase } from '../../../lib/geo/database.ts'
import { locate } from '../../../lib/geo/locate.ts'
import { says } from './fake-database.ts'

const ADDRESS = ipv4FromBits(0x0102_0304)
const JANUARY = Date.UTC(2026, 0, 15, 12)
const NOW = { now: JANUARY, degraded: false }

/** A library of a single city, whose name and zone may change; counts what it is asked. */
function fakeLibrary() {
  let databases: readonly GeoDatabase[] = []
  const library = {
    asked: 0,
    list: () => databases,
    locate: (address: Address) => {
      library.asked++
      return locate(databases, address)
    },
    open: (city: string) => {
      const place = { country: { code: 'DE' }, city, timezone: 'Europe/Berlin' }
      databases = [says('a', place)]
    },
  }
  library.open('Berlin')
  return library
}

describe('createAnswers', () => {
  it('looks an address up no more than twice, and answers alike', () => {
    const library = fakeLibrary()
    const describe = createAnswers(library)
    const answers = Array.from({ length: 5 }, () => describe(ADDRESS, NOW))
    assert.equal(library.asked, 2)
    for (const answer of answers) assert.deepEqual(answer, answers[0])
  })

  it('never gives one address the answer of another', () => {
    const describe = createAnswers(fakeLibrary())
    for (let round = 0; round < 3; round++) {
      for (let bits = 0; bits < 100_000; bits += 7) {
        const { json } = describe(ipv4FromBits(bits), NOW)
        assert.ok(json.includes(`"value":"${ipv4FromBits(bits).text}"`), json)
      }
    }
  })

  it('tells the offset from UTC of the minute', () => {
    const describe = createAnswers(fakeLibrary())
    const offsetAt = (now: number) =>
      /"utcOffset":"(.*?)"/.exec(describe(ADDRESS, { now, degraded: false }).json)?.[1]
    const summer = Date.UTC(2026, 2, 29, 1)
    for (let times = 0; times < 3; times++) {
      assert.equal(offsetAt(summer - 1), '+01:00')
      assert.equal(offsetAt(summer), '+02:00')
    }
    for (let times = 0; times < 3; times++) assert.equal(offsetAt(summer - 1), '+01:00')
    assert.equal(offsetAt(summer), '+02:00')
  })

  it('forgets what the databases before said', () => {
    const library = fakeLibrary()
    const describe = createAnswers(library)
    for (let times = 0; times < 3; times++) describe(ADDRESS, NOW)
    library.open('Hamburg')
    for (let times = 0; times < 3; times++) {
      assert.match(describe(ADDRESS, NOW).json, /"city":"Hamburg"/)
    }
  })

  it('keeps degraded answers apart', () => {
    const describe = createAnswers(fakeLibrary())
    for (let times = 0; times < 3; times++) {
      assert.equal(describe(ADDRESS, NOW).precision, 'city')
      assert.equal(describe(ADDRESS, { now: JANUARY, degraded: true }).precision, 'country')
    }
  })

  it('answers IPv6 addresses with the words of an IPv4 one apart', () => {
    const describe = createAnswers(fakeLibrary())
    const mapped = parseAddress('::ffff:1.2.3.4')
    assert.ok(mapped)
    for (let times = 0; times < 3; times++) {
      assert.match(describe(ADDRESS, NOW).json, /"value":"1.2.3.4","ipVersion":4/)
      assert.match(describe(mapped, NOW).json, /"value":"::ffff:1.2.3.4","ipVersion":6/)
    }
  })
})
