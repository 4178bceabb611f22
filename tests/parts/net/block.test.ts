import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { addressAt, blockText, parseBlock } from '../../../lib/parts/net/block.ts'
import { contains, parseNetwork } from '../../../lib/parts/net/network.ts'

/** Entries of lists of networks, the block of each, and where they are written so. */
const ROWS: readonly (readonly [text: string, block: string | null, source: string])[] = [
  ['8.8.8.0/24', '8.8.8.0/24', 'RFC 4632'],
  ['2001:db8::/32', '2001:db8::/32', 'RFC 4291'],
  ['[2001:db8::]/32', '2001:db8::/32', 'pf'],
  ['8.8.8.8/32', '8.8.8.8/32', 'one address'],
  ['8.8.8.8/24', '8.8.8.0/24', 'ip address show: bits of the host'],
  ['0.0.0.0/0', '0.0.0.0/0', 'RFC 4632'],
  ['::/0', '::/0', 'RFC 4291'],
  ['8.8.8.0/255.255.255.0', '8.8.8.0/24', 'iptables -L'],
  ['8.8.8.0/255.255.255.255', '8.8.8.0/32', 'iptables -L'],
  ['0.0.0.0/0.0.0.0', '0.0.0.0/0', 'iptables -L'],
  ['8.8.8.0 - 8.8.8.255', '8.8.8.0/24', 'RFC 2622: inetnum'],
  ['8.8.8.0-8.8.9.9', '8.8.8.0 - 8.8.9.9', 'ipset'],
  ['8.8.8.0–8.8.8.9', '8.8.8.0 - 8.8.8.9', 'an en dash'],
  ['8.8.8.0 — 8.8.8.9', '8.8.8.0 - 8.8.8.9', 'an em dash'],
  ['8.8.8.4-9', '8.8.8.4 - 8.8.8.9', 'nmap'],
  ['2001:db8::1 - 2001:db8::f', '2001:db8::1 - 2001:db8::f', 'pfSense'],
  ['2001:db8:: - 2001:db8::ffff', '2001:db8::/112', 'pfSense'],
  [' "8.8.8.0/24", ', '8.8.8.0/24', 'a list in JSON'],
  ['\ufeff8.8.8.0/24', '8.8.8.0/24', 'a byte order mark'],
  ['8.8.8.8', null, 'an address'],
  ['8.8.8.0/33', null, 'too long a prefix'],
  ['2001:db8::/129', null, 'too long a prefix'],
  ['8.8.8.0/', null, 'no prefix'],
  ['8.8.8.0/255.0.255.0', null, 'a mask with a hole'],
  ['2001:db8::/255.255.255.0', null, 'a mask of IPv4'],
  ['8.8.8/24', null, 'three numbers'],
  ['8.8.8.9 - 8.8.8.1', null, 'from the end to the start'],
  ['8.8.8.4-256', null, 'not a number of an address'],
  ['8.8.8.0 - 2001:db8::', null, 'two versions'],
  ['8.8.8.0/24 8.8.9.0/24', null, 'two networks'],
  ['2026-11-28', null, 'a date'],
  ['Chrome/120.0.0.0', null, 'a product'],
]

describe('parseBlock', () => {
  for (const [text, expected, source] of ROWS) {
    it(`${JSON.stringify(text)} is ${expected ?? 'no block'}: ${source}`, () => {
      const block = parseBlock(text)
      assert.equal(block && blockText(block), expected)
    })
  }

  it('reads what blockText writes, and networks as parseNetwork does', () => {
    const number = fc.oneof(fc.bigInt(0n, 2n ** 32n - 1n), fc.bigInt(0n, 2n ** 128n - 1n))
    fc.assert(
      fc.property(number, fc.bigInt(0n, 2n ** 20n), (start, size) => {
        const version = start + size < 2n ** 32n ? 4 : 6
        const block = { version, first: start, last: start + size } as const
        if (block.last >= 2n ** 128n) return
        const text = blockText(block)
        assert.deepEqual(parseBlock(text), block, text)
        const network = parseNetwork(text)
        assert.equal(network !== null, text.includes('/'))
        if (network === null) return
        assert.ok(contains(network, addressAt(version, block.first)))
        assert.ok(contains(network, addressAt(version, block.last)))
      }),
    )
  })
})
