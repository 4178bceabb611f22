import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  type Address,
  blockAround,
  contains,
  isPublic,
  parseAddress,
  parseBlock,
  unmapped,
} from '../src/address.ts'

/** Addresses, and texts that differ from one by a character or two. */
const almostAddress = fc
  .tuple(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(), fc.constantFrom(...'0f1:.%/ ', '::', ''))
  .map(([text, at, part]) => {
    const cut = at % (text.length + 1)
    return text.slice(0, cut) + part + text.slice(cut + (at % 2))
  })

function parse(text: string): Address {
  const address = parseAddress(text)
  assert.ok(address, text)
  return address
}

describe('parseAddress', () => {
  it('accepts what Node.js calls an address, except zone ids', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), almostAddress, fc.string()), (text) => {
        const version = text.includes('%') ? 0 : isIP(text)
        assert.equal(parseAddress(text)?.version ?? 0, version, text)
      }),
      { numRuns: 2_000 },
    )
  })

  it('writes IPv6 as RFC 5952 wants it', () => {
    assert.equal(parse('2001:DB8:0:0:1:0:0:1').text, '2001:db8::1:0:0:1')
    assert.equal(parse('2001:db8:0:1:1:1:1:1').text, '2001:db8:0:1:1:1:1:1')
    assert.equal(parse('0:0:0:0:0:0:0:0').text, '::')
    assert.equal(parse('::FFFF:1.2.3.4').text, '::ffff:1.2.3.4')
    assert.equal(parse('::ffff:102:304').text, '::ffff:1.2.3.4')
  })

  it('reads the bits', () => {
    assert.equal(parse('1.2.3.4').bits, 0x01020304n)
    assert.equal(parse('::1').bits, 1n)
    assert.equal(parse('2001:db8::1').bits, 0x20010db8000000000000000000000001n)
  })
})

describe('blocks', () => {
  it('contain the addresses that begin with their bits', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(128), (text, length) => {
        const address = parse(text)
        assert.ok(contains(blockAround(address, Math.min(length, address.length)), address))
      }),
    )
    const block = parseBlock('81.2.69.0/24')
    assert.ok(block)
    assert.equal(contains(block, parse('81.2.69.255')), true)
    assert.equal(contains(block, parse('81.2.70.0')), false)
    assert.equal(contains(block, parse('::5102:4500')), false)
  })

  it('are not read from other texts', () => {
    for (const text of ['', '1.2.3.4', '1.2.3.4/33', '1.2.3.4/-1', '1.2.3/8', '::/129']) {
      assert.equal(parseBlock(text), undefined, text)
    }
  })
})

describe('isPublic', () => {
  it('tells private and reserved addresses from others', () => {
    const global = ['8.8.8.8', '81.2.69.160', '2a00:1450:4009::1', '::ffff:8.8.8.8']
    for (const text of [...global, '192.0.0.9', '2001:20::1', '2002:808:808::1']) {
      assert.equal(isPublic(parse(text)), true, text)
    }
    const others = ['10.0.0.1', '127.0.0.1', '192.168.1.1', '100.64.0.1', '::1', 'fe80::1']
    for (const text of [
      ...others,
      ...['192.0.0.8', '2001:10::1', '2001:40::1', '3fff::1', '5f00::1'],
      'fd00::1',
      '2001:db8::1',
      '::ffff:10.0.0.1',
      '255.255.255.255',
    ]) {
      assert.equal(isPublic(parse(text)), false, text)
    }
  })
})

describe('unmapped', () => {
  it('finds the IPv4 address inside', () => {
    assert.equal(unmapped(parse('::ffff:1.2.3.4')).text, '1.2.3.4')
    assert.equal(unmapped(parse('::1.2.3.4')).version, 6)
    assert.equal(unmapped(parse('1.2.3.4')).text, '1.2.3.4')
  })
})
