import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFindClient } from '../../lib/access/client-address.ts'
import { createProxyWatch, proxyWarning } from '../../lib/access/unknown-proxy.ts'

const HEADER = 'x-forwarded-for'

/** The networks that are named after these requests. */
function namedAfter(requests: readonly (readonly [peer: string, forwarded: string | undefined])[]) {
  const named: string[] = []
  const watch = createProxyWatch(HEADER, (network) => named.push(network))
  const find = createFindClient({ trustedProxies: [], clientHeader: HEADER }, watch.see)
  for (const [peer, forwarded] of requests) {
    const client = find(peer, { header: () => forwarded })
    assert.equal(client?.address.text, peer.replace('::ffff:', ''))
  }
  assert.equal(watch.found(), named[0] ?? null)
  return named
}

describe('a proxy that is not trusted', () => {
  for (const [peer, network] of [
    ['172.17.0.1', '172.17.0.0/24'],
    ['127.0.0.1', '127.0.0.0/24'],
    ['::ffff:10.0.0.9', '10.0.0.0/24'],
    ['fd00::7', 'fd00::/48'],
  ] as const) {
    it(`is named once: ${peer}`, () => {
      assert.deepEqual(namedAfter(Array(40).fill([peer, '8.8.8.8'])), [network])
    })
  }

  it('is found among requests without the header', () => {
    const mixed = Array.from(
      { length: 64 },
      (_, at) => ['10.0.0.9', at < 5 ? undefined : '8.8.8.8'] as const,
    )
    assert.deepEqual(namedAfter(mixed), ['10.0.0.0/24'])
  })

  it('is not a client on the Internet, or one without the header', () => {
    assert.deepEqual(namedAfter(Array(40).fill(['81.2.69.160', '8.8.8.8'])), [])
    assert.deepEqual(namedAfter(Array(40).fill(['172.17.0.1', undefined])), [])
  })

  it('is named with the setting that trusts it', () => {
    assert.match(
      proxyWarning('172.17.0.0/24', HEADER),
      /172\.17\.0\.0\/24.*x-forwarded-for.*MERIDIAN_TRUSTED_PROXIES/,
    )
  })
})
