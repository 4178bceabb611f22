import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readConfig } from '../../lib/config/config.ts'
import { networkText } from '../../lib/parts/net/network.ts'

/** The settings in one line each. */
function read(text: string): string[] {
  const { geofeeds } = readConfig({ MERIDIAN_GEOFEEDS: text }).geo
  return geofeeds.map((one) => {
    if ('objects' in one) return `objects ${one.objects}`
    const blocks = one.blocks.map(({ address, prefix }) => networkText(address, prefix))
    return `${one.source} for ${blocks.join(' ')}`
  })
}

describe('MERIDIAN_GEOFEEDS', () => {
  it('names feeds by URL or path, each with its blocks, and files of registry objects', () => {
    const text =
      'https://example.net/geofeed.csv=192.0.2.0/24+2001:db8::/32, own.csv = 10.0.0.0/8,,whois.txt'
    assert.deepEqual(read(text), [
      'https://example.net/geofeed.csv for 192.0.2.0/24 2001:db8::/32',
      'own.csv for 10.0.0.0/8',
      'objects whois.txt',
    ])
  })

  it('may have URLs with a query, http on loopback, and blocks of one address', () => {
    assert.deepEqual(read('https://example.net/?a=b&c==192.0.2.1,http://127.0.0.1:1/=::1'), [
      'https://example.net/?a=b&c= for 192.0.2.1/32',
      'http://127.0.0.1:1/ for ::1/128',
    ])
  })

  const BLOCKS = /^Cannot read the configuration: MERIDIAN_GEOFEEDS must name the blocks of each/
  const bad = [
    ['a feed without blocks', 'https://example.net/geofeed.csv', BLOCKS],
    ['a URL whose query is taken for blocks', 'https://example.net/?id=7', BLOCKS],
    ['a block with bits after its prefix', 'own.csv=192.0.2.1/24', BLOCKS],
    ['a block that is no network', 'own.csv=192.0.2.0/24+', BLOCKS],
    ['blocks without a feed', '=192.0.2.0/24', BLOCKS],
    ['http', 'http://example.net/=192.0.2.0/24', /must have https URLs without a password/],
    [
      'a password',
      'https://a:b@example.net/=192.0.2.0/24',
      /https URLs without a password, got "https:\/\/…@/,
    ],
    [
      'the same block twice',
      'a.csv=192.0.2.0/24,b.csv=::ffff:192.0.2.0/120',
      /must not have the block 192\.0\.2\.0\/24 twice/,
    ],
  ] as const
  for (const [name, text, message] of bad) {
    it(`refuses ${name}`, () => assert.throws(() => read(text), { message }))
  }
})
