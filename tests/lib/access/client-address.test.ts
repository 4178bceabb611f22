import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createFindClient } from '../../../lib/access/client-address.ts'
import { parseNetwork } from '../../../lib/network.ts'

function clientOf(trusted: readonly string[], peer: string | undefined, forwarded?: string) {
  const networks = trusted.map(parseNetwork).filter((network) => network !== null)
  return createFindClient(networks)(peer, () => forwarded)?.address.text ?? null
}

describe('the client of a request', () => {
  it('is the peer, and the header is not even read, where no proxy is trusted', () => {
    const find = createFindClient([])
    const client = find('192.0.2.1', () => assert.fail('read'))
    assert.equal(client?.address.text, '192.0.2.1')
    assert.equal(client?.network, '192.0.2.0/24')
  })

  const PROXIES = ['10.0.0.0/8', 'fd00::/8', '127.0.0.1']
  const cases = [
    ['no header', undefined, '10.0.0.1'],
    ['an empty header', '', '10.0.0.1'],
    ['one address', '192.0.2.1', '192.0.2.1'],
    ['a chain of proxies', '192.0.2.1, 10.0.0.3,fd00::1 , 10.0.0.2', '192.0.2.1'],
    ['an address that the client invented', '8.8.8.8, 192.0.2.1', '192.0.2.1'],
    ['a chain of proxies alone', '10.0.0.4, 10.0.0.3', '10.0.0.4'],
    ['garbage on the right', '192.0.2.1, unknown', '10.0.0.1'],
    ['garbage behind a proxy', '192.0.2.1, x, 10.0.0.2', '10.0.0.2'],
    ['an empty hop', '192.0.2.1,,10.0.0.2', '10.0.0.2'],
    ['an address with a port', '192.0.2.1:80', '10.0.0.1'],
    ['IPv6', '2a00:1450:4009::1', '2a00:1450:4009::1'],
    ['an IPv4-mapped address', '::ffff:192.0.2.1', '192.0.2.1'],
    ['an IPv4-mapped proxy', '192.0.2.1, ::ffff:10.0.0.2', '192.0.2.1'],
    ['many hops', `${'1.1.1.1, '.repeat(5_000)}192.0.2.1`, '192.0.2.1'],
  ] as const
  for (const [name, header, expected] of cases) {
    it(`behind a trusted proxy with ${name} is ${expected}`, () => {
      assert.equal(clientOf(PROXIES, '10.0.0.1', header), expected)
      assert.equal(clientOf(PROXIES, '::ffff:10.0.0.1', header), expected)
    })
  }

  it('is the peer where that is no trusted proxy', () => {
    assert.equal(clientOf(PROXIES, '192.0.2.9', '192.0.2.1'), '192.0.2.9')
    assert.equal(clientOf(PROXIES, '11.0.0.1', '192.0.2.1'), '11.0.0.1')
  })

  it('is unknown where the peer has no address', () => {
    for (const peer of [undefined, '', '/run/socket', 'localhost']) {
      assert.equal(clientOf(PROXIES, peer, '192.0.2.1'), null)
    }
  })

  it('is a link-local peer without its zone', () => {
    assert.equal(clientOf([], 'fe80::1%eth0'), 'fe80::1')
  })

  it('is the right-most address that is no proxy, whatever stands left of it', () => {
    const hop = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.string().filter((text) => !text.includes(',')),
    )
    fc.assert(
      fc.property(
        fc.array(hop),
        fc.array(fc.constantFrom('10.1.1.1', 'fd00::7')),
        (left, right) => {
          const header = [...left, '192.0.2.1', ...right].join(',')
          assert.equal(clientOf(PROXIES, '10.0.0.1', header), '192.0.2.1')
        },
      ),
    )
  })
})
