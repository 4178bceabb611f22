import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createFindClient } from '../../lib/access/client-address.ts'
import { parseAddress } from '../../lib/parts/net/address.ts'
import { parseNetwork } from '../../lib/parts/net/network.ts'

const XFF = 'x-forwarded-for'

function clientOf(trusted: readonly string[], peer: string | undefined, forwarded?: string) {
  return clientBy(XFF, trusted, peer, { [XFF]: forwarded })
}

function clientBy(
  header: string,
  proxies: readonly string[],
  peer: string | undefined,
  headers: Readonly<Record<string, string | undefined>>,
) {
  const trusted = proxies.map(parseNetwork).filter((network) => network !== null)
  const find = createFindClient({ trustedProxies: trusted, clientHeader: header })
  return find(peer, { header: (name) => headers[name] })?.address.text ?? null
}

describe('the client of a request', () => {
  it('is the peer if no proxy is trusted; the header is not even read', () => {
    const find = createFindClient({ trustedProxies: [], clientHeader: XFF })
    const client = find('192.0.2.1', { header: () => assert.fail('read') })
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
    ['an empty hop', '192.0.2.1,,10.0.0.2', '192.0.2.1'],
    ['an address with a port', '5.0.0.1, 192.0.2.1:51234', '192.0.2.1'],
    ['proxies with ports', '192.0.2.1:9, [fd00::1]:80, 10.0.0.2:65535', '192.0.2.1'],
    ['IPv6 in brackets', '[2a00:1450:4009::1]', '2a00:1450:4009::1'],
    ['IPv6 in brackets with a port', '5.0.0.1, [2a00:1450:4009::1]:443', '2a00:1450:4009::1'],
    ['an IPv4-mapped address with a port', '[::ffff:192.0.2.1]:443', '192.0.2.1'],
    ['a port without a number', '192.0.2.1, 5.0.0.1:', '10.0.0.1'],
    ['a port that is not a number', '192.0.2.1, 5.0.0.1:x', '10.0.0.1'],
    ['a port of six digits', '192.0.2.1, 5.0.0.1:123456', '10.0.0.1'],
    ['an open bracket', '192.0.2.1, [2a00::1', '10.0.0.1'],
    ['IPv4 in brackets', '192.0.2.1, [5.0.0.1]:80', '10.0.0.1'],
    ['text after the bracket', '192.0.2.1, [2a00::1]x', '10.0.0.1'],
    ['a zone', '192.0.2.1, 2a00::1%eth0', '10.0.0.1'],
    ['the unspecified IPv4 address', '192.0.2.1, 0.0.0.0', '10.0.0.1'],
    ['the unspecified IPv6 address', '192.0.2.1, ::', '10.0.0.1'],
    ['the unspecified address in brackets', '192.0.2.1, [0:0:0:0:0:0:0:0]:80', '10.0.0.1'],
    ['the unspecified address, mapped', '192.0.2.1, ::ffff:0.0.0.0', '10.0.0.1'],
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

  it('is the peer if that is not a trusted proxy', () => {
    assert.equal(clientOf(PROXIES, '192.0.2.9', '192.0.2.1'), '192.0.2.9')
    assert.equal(clientOf(PROXIES, '11.0.0.1', '192.0.2.1'), '11.0.0.1')
  })

  it('is unknown if the peer has no address', () => {
    for (const peer of [undefined, '', '/run/socket', 'localhost']) {
      assert.equal(clientOf(PROXIES, peer, '192.0.2.1'), null)
    }
  })

  it('is a link-local peer without its zone', () => {
    assert.equal(clientOf([], 'fe80::1%eth0'), 'fe80::1')
  })

  it('is the right-most address that is not a proxy, whatever is to its left', () => {
    const hop = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.string().filter((text) => !text.includes(',')),
    )
    const proxy = fc.constantFrom('10.1.1.1', 'fd00::7')
    fc.assert(
      fc.property(fc.array(hop), fc.array(proxy), (left, right) => {
        const header = [...left, '192.0.2.1', ...right].join(',')
        assert.equal(clientOf(PROXIES, '10.0.0.1', header), '192.0.2.1')
      }),
    )
  })
})

/** Any text, often one that looks like addresses. */
const anyText = fc.oneof(
  fc.string(),
  fc
    .array(fc.constantFrom('[', ']', ':', '%', '.', ',', '::', '0', '81.2.69.160', 'f'))
    .map((parts) => parts.join('')),
  fc.array(fc.oneof(fc.ipV4(), fc.ipV6())).map((parts) => parts.join(', ')),
)

describe('the client named by a header of its own', () => {
  const HEADER = 'fly-client-ip'
  const named = (peer: string, value: string | undefined, forwarded = '5.0.0.1') =>
    clientBy(HEADER, ['172.16.0.0/12'], peer, { [HEADER]: value, [XFF]: forwarded })

  const values = [
    ['192.0.2.1', '192.0.2.1'],
    [' 2a00:1450:4009::1 ', '2a00:1450:4009::1'],
    ['[2a00:1450:4009::1]:443', '2a00:1450:4009::1'],
    ['192.0.2.1:80', '192.0.2.1'],
    [undefined, '172.16.0.9'],
    ['', '172.16.0.9'],
    ['unknown', '172.16.0.9'],
    ['0.0.0.0', '172.16.0.9'],
    ['5.0.0.1, 192.0.2.1', '172.16.0.9'],
  ] as const
  for (const [value, expected] of values) {
    it(`is ${expected} if the proxy sends ${JSON.stringify(value)}`, () => {
      assert.equal(named('172.16.0.9', value), expected)
    })
  }

  it('is the peer if that is not a trusted proxy', () => {
    assert.equal(named('66.241.124.230', '192.0.2.1'), '66.241.124.230')
  })

  it('does not depend on X-Forwarded-For', () => {
    fc.assert(
      fc.property(anyText, (forwarded) => {
        assert.equal(named('172.16.0.9', '192.0.2.1', forwarded), '192.0.2.1')
        assert.equal(named('172.16.0.9', undefined, forwarded), '172.16.0.9')
      }),
    )
  })
})

describe('any text in the headers', () => {
  const PROXY = '10.0.0.1'
  for (const header of [XFF, 'cf-connecting-ip']) {
    it(`gives an address or the proxy, and never throws: ${header}`, () => {
      fc.assert(
        fc.property(anyText, (value) => {
          const client = clientBy(header, ['10.0.0.0/8'], PROXY, { [header]: value })
          assert.ok(client === PROXY || parseAddress(client ?? '') !== null)
          assert.ok(!['::', '0.0.0.0'].includes(client ?? ''))
        }),
      )
    })

    it(`leaves an untrusted peer as the client: ${header}`, () => {
      fc.assert(
        fc.property(anyText, anyText, (value, forwarded) => {
          const headers = { [XFF]: forwarded, 'cf-connecting-ip': value }
          assert.equal(clientBy(header, ['10.0.0.0/8'], '192.0.2.9', headers), '192.0.2.9')
        }),
      )
    })
  }
})

describe('a header that a stranger forges', () => {
  /** What each proxy of docs/operations.md makes of the header of a client at 192.0.2.1. */
  const shapes: Readonly<Record<string, (forged: string) => string>> = {
    'nginx, AWS ALB': (forged) => `${forged}, 192.0.2.1`,
    HAProxy: (forged) => `${forged},192.0.2.1`,
    Caddy: () => '192.0.2.1',
    'AWS ALB with client ports': (forged) => `${forged}, 192.0.2.1:51234`,
    'Azure Application Gateway': (forged) => `${forged},192.0.2.1:51234`,
    'Cloudflare in front of nginx': (forged) => `${forged},192.0.2.1, 10.0.0.7`,
  }
  for (const [proxy, shape] of Object.entries(shapes)) {
    it(`is ignored behind ${proxy}`, () => {
      fc.assert(
        fc.property(anyText, (forged) => {
          assert.equal(clientOf(['10.0.0.0/8'], '10.0.0.1', shape(forged)), '192.0.2.1')
        }),
      )
    })
  }
})
