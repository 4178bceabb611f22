import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  formatIpv4,
  ipv4FromBits,
  parseAddress,
  truncated,
  unmapped,
} from '../../../lib/parts/net/address.ts'
import { isPublic } from '../../../lib/parts/net/public-address.ts'
import { addressOf } from '../../support/networks.ts'

/** Texts like addresses, which are valid more often than random text. */
const addressLike = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.ipV4Extended(),
  fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF:.%x/[] '), maxLength: 45 }),
  fc
    .array(fc.constantFrom('0', '00', 'ffff', 'ABCD', '', '1.2.3.4'), { maxLength: 9 })
    .map((groups) => groups.join(':')),
  fc.string(),
)

describe('parseAddress', () => {
  it('accepts the addresses that node:net accepts, except those with a zone', () => {
    fc.assert(
      fc.property(addressLike, (text) => {
        const version = text.includes('%') ? 0 : isIP(text)
        assert.equal(parseAddress(text)?.version ?? 0, version)
      }),
      { numRuns: 3_000 },
    )
  })

  it('writes IPv6 addresses like the URL standard, but mapped ones with dots', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV6(), words().map(plainText)), (text) => {
        const spelled = parseAddress(text)?.text ?? ''
        const { hostname } = new URL(`http://[${text}]`)
        const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(spelled)
        assert.equal(new URL(`http://[${spelled}]`).hostname, hostname)
        if (mapped === null) assert.equal(`[${spelled}]`, hostname)
        else assert.match(hostname, /^\[::ffff:[0-9a-f]+:[0-9a-f]+\]$/)
      }),
      { numRuns: 2_000 },
    )
  })

  it('reads back the bits that it wrote', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff_ffff }), (bits) => {
        const address = ipv4FromBits(bits)
        assert.deepEqual(parseAddress(address.text), address)
        assert.equal(formatIpv4(bits), address.text)
        assert.equal(address.bits, bits | 0)
      }),
    )
    fc.assert(
      fc.property(words(), (given) => {
        const address = parseAddress(plainText(given))
        assert.deepEqual(address?.version === 6 && address.words, given)
        assert.deepEqual(address && parseAddress(address.text), address)
      }),
    )
  })

  const canonical = [
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['1::', '1::'],
    ['::ffff:0:1.2.3.4', '::ffff:0:102:304'],
    ['::FFFF:102:304', '::ffff:1.2.3.4'],
    ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
  ] as const
  for (const [text, expected] of canonical) {
    it(`spells ${text} as ${expected}`, () => assert.equal(parseAddress(text)?.text, expected))
  }

  const bad = ['fe80::1%eth0', '::1%', '01.2.3.4', '1.2.3', '1.2.3.4 ', '١.٢.٣.٤', '1.2.3.4/8']
  for (const text of bad) {
    it(`refuses "${text}"`, () => assert.equal(parseAddress(text), null))
  }
})

describe('unmapped', () => {
  it('returns the IPv4 address only of a mapped address', () => {
    const textOf = (text: string) => unmapped(addressOf(text)).text
    assert.equal(textOf('::ffff:1.2.3.4'), '1.2.3.4')
    assert.equal(textOf('::1.2.3.4'), '::102:304')
    assert.equal(textOf('1.2.3.4'), '1.2.3.4')
    assert.equal(textOf('::ffff:0:1.2.3.4'), '::ffff:0:102:304')
  })
})

describe('truncated', () => {
  const networks = [
    ['203.0.113.77', '203.0.113.0/24'],
    ['255.255.255.255', '255.255.255.0/24'],
    ['2a00:1450:4009:80b::200e', '2a00:1450:4009::/48'],
    ['ffff:ffff:ffff:ffff::1', 'ffff:ffff:ffff::/48'],
    ['::1', '::/48'],
  ] as const
  for (const [text, network] of networks) {
    it(`shows ${text} as ${network}`, () => assert.equal(truncated(addressOf(text)), network))
  }
})

function words() {
  const word = fc.oneof(
    fc.constant(0),
    fc.constantFrom(1, 0xffff, 0x10000),
    fc.integer({ min: 0, max: 0xffff_ffff }),
  )
  return fc.tuple(word, word, word, word)
}

/** Eight groups without any shortening. */
function plainText(given: readonly number[]): string {
  return given
    .flatMap((word) => [word >>> 16, word & 0xffff])
    .map((group) => group.toString(16).padStart(4, '0'))
    .join(':')
}

describe('isPublic', () => {
  const addresses = {
    true: ['1.1.1.1', '9.255.255.255', '11.0.0.0', '172.32.0.1', '223.255.255.255', '2a00::1'],
    false: ['0.0.0.0', '10.1.2.3', '100.64.0.1', '172.31.0.1', '224.0.0.1', '255.255.255.255'],
  }
  for (const [expected, texts] of Object.entries(addresses)) {
    for (const text of [...texts, ...(expected === 'false' ? ['fc00::1', 'ff02::1', '::'] : [])]) {
      it(`is ${expected} for ${text}`, () =>
        assert.equal(String(isPublic(addressOf(text))), expected))
    }
  }
})
