import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { findAddresses } from '../../lib/address-lists/find-addresses.ts'
import { parseAddress } from '../../lib/parts/net/address.ts'

const address = fc.oneof(fc.ipV4(), fc.ipV6())

describe('findAddresses', () => {
  it('finds an address alone, in brackets, with a port, a zone or punctuation', () => {
    for (const [text, found] of [
      ['81.2.69.160', '81.2.69.160'],
      [' 81.2.69.160:8080 ', '81.2.69.160'],
      ['[2001:db8::1]:443', '2001:db8::1'],
      ['2001:DB8::', '2001:DB8::'],
      ['::', '::'],
      ['::ffff:81.2.69.160', '::ffff:81.2.69.160'],
      ['fe80::1%eth0', 'fe80::1'],
      ['from 81.2.69.160.', '81.2.69.160'],
      ['client: 2001:db8::1, server', '2001:db8::1'],
      ['src:81.2.69.160', '81.2.69.160'],
      ['client:2001:db8::1', '2001:db8::1'],
      ['ip=81.2.69.160;', '81.2.69.160'],
      ['81.2.69.160/32', '81.2.69.160'],
      ['{"ip":"81.2.69.160"}', '81.2.69.160'],
      ['http://81.2.69.160/x', '81.2.69.160'],
    ] as const) {
      assert.deepEqual(findAddresses(text), [found], text)
    }
  })

  it('takes nothing else for an address', () => {
    for (const text of [
      ...['', '12:30:00', '2026-01-15T12:30:00', 'aa:bb:cc:dd:ee:ff', '1.2.3', '1.2.3.4.5', 'face'],
      ...['999.1.1.1', '01.2.3.4', '1.2.3.4.example.com', 'host1.2.3.4', 'v1.2.3.4', '1.2.3.4ms'],
      ...['Chrome/120.0.0.0', '1:2:3:4:5:6:7', '1::2::3', ':::', '1:2:3:4:5:6:7:8:9:1', '=1+1'],
    ]) {
      assert.deepEqual(findAddresses(text), [], text)
    }
  })

  it('finds all addresses of a line of a log, in order', () => {
    const line =
      '10.0.0.1 - - [25/Nov/2026:12:00:00 +0000] "GET /1.2/x HTTP/1.1" 200 5 "-" "Mozilla/5.0 Chrome/120.0.0.0" "81.2.69.160, 2001:db8::1"'
    assert.deepEqual(findAddresses(line), ['10.0.0.1', '81.2.69.160', '2001:db8::1'])
  })

  it('finds every address that the API accepts, between other words', () => {
    const gap = fc.constantFrom(' ', ', ', '" "', '\t', ' - ', ' (x) ', '|', '=')
    fc.assert(
      fc.property(fc.array(fc.tuple(gap, address)), (all) => {
        const addresses = all.map(([, one]) => one)
        assert.deepEqual(findAddresses(all.flat().join('')), addresses)
      }),
      { numRuns: 1_000 },
    )
  })

  it('finds only what the API accepts, and never misses a text that is an address', () => {
    const unit = fc.constantFrom(...'0123456789abcdefABCDEF.:::..x -/[]%'.split(''))
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit, maxLength: 60 }), address), (text) => {
        const found = findAddresses(text)
        for (const one of found) assert.notEqual(parseAddress(one), null, one)
        if (parseAddress(text) !== null) assert.deepEqual(found, [text])
      }),
      { numRuns: 5_000 },
    )
  })

  it('ends quickly on long words', () => {
    for (const unit of ['a', ':', '1.', 'a:', '.']) {
      assert.deepEqual(findAddresses(unit.repeat(100_000)), [])
    }
  })
})
