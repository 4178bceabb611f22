import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readConfig } from '../../lib/config/config.ts'
import { findSimilar } from '../../lib/config/did-you-mean.ts'
import { Environment } from '../../lib/config/environment.ts'
import { networkText } from '../../lib/parts/net/network.ts'

describe('a setting of another service', () => {
  it('is refused if it looks like a slip of ours', () => {
    for (const [name, meant] of [
      ['STRIPE_SECRET_KY', 'STRIPE_SECRET_KEY'],
      ['STRIPE_WEBHOOK_SECERT', 'STRIPE_WEBHOOK_SECRET'],
      ['TURNSTILE_SECRETKEY', 'TURNSTILE_SECRET_KEY'],
    ] as const) {
      const problem = new RegExp(`unknown setting ${name}, did you mean ${meant}\\?$`)
      assert.throws(() => readConfig({ [name]: 'x' }), problem)
    }
  })

  it('is left alone if it may be of another program', () => {
    const stripe = ['STRIPE_API_KEY', 'STRIPE_PUBLISHABLE_KEY', 'STRIPE_PRICE_TEAM']
    for (const name of [...stripe, 'TURNSTILE_SITE_KEY']) {
      assert.doesNotThrow(() => readConfig({ [name]: 'x' }), name)
    }
  })
})

describe('findSimilar', () => {
  const names = Object.keys(Environment.entries)

  it('finds a setting by a name with missing underscores, a wrong prefix or a misspelling', () => {
    for (const [given, meant] of [
      ['MERIDIAN_SIGNUP', 'MERIDIAN_SIGN_UP'],
      ['MERIDIAN_DATADIR', 'MERIDIAN_DATA_DIR'],
      ['MERIDIAN_PORT', 'PORT'],
      ['MERIDIAN_GEOO', 'MERIDIAN_GEO'],
      ['MERIDIAN_BASEURL', 'MERIDIAN_BASE_URL'],
      ['MERIDIAN_LOG_LEVLE', 'MERIDIAN_LOG_LEVEL'],
      ['MERIDIAN_STRIPE_SECRET_KEY', 'STRIPE_SECRET_KEY'],
    ] as const) {
      assert.equal(findSimilar(given, names), meant, given)
    }
  })

  it('finds nothing for a name that is like none', () => {
    for (const given of ['MERIDIAN_X', 'MERIDIAN_', 'MERIDIAN_COLOUR_OF_THE_SKY']) {
      assert.equal(findSimilar(given, names), undefined, given)
    }
  })

  it('finds every setting by its own name', () => {
    for (const name of names) assert.equal(findSimilar(name, names), name)
  })
})

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

  const TWICE = 'a.csv=192.0.2.0/24,b.csv=::ffff:192.0.2.0/120'
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
    ['the same block twice', TWICE, /must not have the block 192\.0\.2\.0\/24 twice/],
  ] as const
  for (const [name, text, message] of bad) {
    it(`refuses ${name}`, () => assert.throws(() => read(text), { message }))
  }
})
