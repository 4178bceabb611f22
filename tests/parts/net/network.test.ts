import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Address } from '../../../lib/parts/net/address.ts'
import {
  contains,
  networkText,
  parseNetwork,
  unmappedNetwork,
} from '../../../lib/parts/net/network.ts'
import { addressOf, networkOf } from '../../support/networks.ts'

const version = fc.constantFrom(4, 6) as fc.Arbitrary<4 | 6>
const text = (of: 4 | 6) => (of === 4 ? fc.ipV4() : fc.ipV6())

const blocks = version.chain((of) =>
  fc.record({
    of: fc.constant(of),
    base: text(of),
    prefix: fc.nat(of === 4 ? 32 : 128),
    asked: fc.oneof(text(of), fc.constant('same')),
    flipped: fc.nat(of === 4 ? 31 : 127),
  }),
)

describe('contains', () => {
  it('agrees with BlockList of node:net', () => {
    fc.assert(
      fc.property(blocks, ({ of, base, prefix, asked, flipped }) => {
        const address = addressOf(base)
        const other = asked === 'same' ? flip(address, flipped) : addressOf(asked)
        const list = new BlockList()
        list.addSubnet(address.text, prefix, `ipv${of}`)
        const expected = list.check(other.text, `ipv${of}`)
        assert.equal(contains({ address, prefix }, other), expected)
      }),
      { numRuns: 3_000 },
    )
  })

  it('is false if the IP versions differ', () => {
    assert.equal(contains(networkOf('0.0.0.0/0'), addressOf('::ffff:1.2.3.4')), false)
    assert.equal(contains(networkOf('::/0'), addressOf('1.2.3.4')), false)
  })
})

describe('networkText', () => {
  it('writes the network of that length which contains the address', () => {
    fc.assert(
      fc.property(blocks, ({ base, prefix }) => {
        const address = addressOf(base)
        const network = parseNetwork(networkText(address, prefix))
        assert.equal(network?.prefix, prefix)
        assert.ok(contains(network, address))
      }),
    )
  })

  const texts = [
    ['81.2.69.160', 24, '81.2.69.0/24'],
    ['255.255.255.255', 0, '0.0.0.0/0'],
    ['::ffff:81.2.69.160', 120, '::ffff:81.2.69.0/120'],
    ['2a00:1450:4009::1', 48, '2a00:1450:4009::/48'],
  ] as const
  for (const [text, prefix, written] of texts) {
    it(`writes ${written}`, () => assert.equal(networkText(addressOf(text), prefix), written))
  }
})

describe('parseNetwork', () => {
  it('accepts a block only if no bit after its prefix is set', () => {
    fc.assert(
      fc.property(blocks, ({ of, base, prefix }) => {
        const address = addressOf(base)
        const width = of === 4 ? 32 : 128
        const rest = bitsOf(address).slice(prefix)
        const clean = rest.every((bit) => bit === '0')
        const network = parseNetwork(`${base}/${prefix}`)
        assert.equal(network !== null, clean)
        assert.deepEqual(parseNetwork(base), { address, prefix: width })
      }),
    )
  })

  const bad = [
    ...['', '/8', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0.0/-1', '10.0.0.0/ 8'],
    ...['::/129', '10.0.0.1/8', '10.0.0.0/08x', 'fe80::1%eth0/64', '10.0.0.0/1e1'],
  ]
  for (const spelled of bad) {
    it(`refuses "${spelled}"`, () => assert.equal(parseNetwork(spelled), null))
  }
})

function bitsOf(address: Address): string[] {
  const words = address.version === 4 ? [address.bits >>> 0] : address.words
  return words.flatMap((word) => [...word.toString(2).padStart(32, '0')])
}

/** The address with one bit changed. */
function flip(address: Address, bit: number): Address {
  const bits = bitsOf(address)
  bits[bit] = bits[bit] === '0' ? '1' : '0'
  const groups = Array.from({ length: bits.length / 16 }, (_, at) =>
    Number.parseInt(bits.slice(at * 16, at * 16 + 16).join(''), 2),
  )
  if (address.version === 6) return addressOf(groups.map((group) => group.toString(16)).join(':'))
  return addressOf(groups.flatMap((group) => [group >>> 8, group & 255]).join('.'))
}

describe('unmappedNetwork', () => {
  const networks = [
    ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
    ['::ffff:192.0.2.1', '192.0.2.1/32'],
    ['::ffff:0:0/96', '0.0.0.0/0'],
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['fd00::/8', 'fd00::/8'],
    ['::/0', '::/0'],
  ] as const
  for (const [given, expected] of networks) {
    it(`turns ${given} into ${expected}`, () =>
      assert.deepEqual(unmappedNetwork(networkOf(given)), networkOf(expected)))
  }
})
