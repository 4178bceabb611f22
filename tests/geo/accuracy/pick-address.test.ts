import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createPickAddress } from '../../../lib/geo/accuracy/pick-address.ts'
import { parseAddress } from '../../../lib/parts/net/address.ts'
import { contains, networkText } from '../../../lib/parts/net/network.ts'
import { addressOf, networkOf as network } from '../../support/networks.ts'

const pick = (text: string, ...others: string[]) =>
  createPickAddress([text, ...others].map(network))(network(text))

const networks = fc.oneof(
  fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })),
  fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 })),
)

describe('the picked address', () => {
  it('is always in the prefix', () => {
    fc.assert(
      fc.property(networks, ([text, prefix]) => {
        const own = network(networkText(addressOf(text), prefix))
        const picked = createPickAddress([own])(own)
        assert.ok(picked && contains(own, picked))
        assert.deepEqual(picked, parseAddress(picked.text))
      }),
    )
  })

  it('is the same each time, and another one in another prefix', () => {
    // printf 'meridian-accuracy-1192.0.2.0/24' | sha256sum: the 16th byte is b4.
    assert.equal(pick('192.0.2.0/24')?.text, '192.0.2.180')
    assert.equal(pick('198.51.100.0/24')?.text, '198.51.100.148')
    assert.equal(pick('2001:db8::/32')?.text, pick('2001:db8::/32')?.text)
  })

  it('is never the address of the network, except if a prefix has no other or has two', () => {
    for (let at = 0; at < 256; at += 4) {
      assert.notEqual(pick(`192.0.2.${at}/30`)?.text, `192.0.2.${at}`)
    }
    assert.equal(pick('192.0.2.0/32')?.text, '192.0.2.0')
  })

  it('is in no narrower prefix of the file', () => {
    const narrower = ['192.0.2.0/25', '192.0.2.128/26', '192.0.2.192/27']
    const picked = pick('192.0.2.0/24', ...narrower)
    assert.ok(picked && contains(network('192.0.2.224/27'), picked))
  })

  it('is missing if narrower prefixes cover the whole prefix', () => {
    assert.equal(pick('192.0.2.0/24', '192.0.2.0/25', '192.0.2.128/25'), undefined)
  })
})
