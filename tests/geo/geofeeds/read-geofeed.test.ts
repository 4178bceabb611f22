import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { readGeofeed } from '../../../lib/geo/geofeeds/read-geofeed.ts'
import { networkText } from '../../../lib/parts/net/network.ts'
import { networkOf } from '../../support/networks.ts'
import { anyCharacter } from '../../support/quick/any-character.ts'

const blocksOf = (...texts: readonly string[]) => texts.map(networkOf)
const ALL = blocksOf('0.0.0.0/0', '::/0')

function read(text: string | Uint8Array, blocks = ALL) {
  return readGeofeed(typeof text === 'string' ? Buffer.from(text) : text, blocks)
}

/** The entries in one line each. */
function entries(text: string | Uint8Array, blocks = ALL): string[] {
  return read(text, blocks).entries.map(({ network, place }) => {
    const { country, region, city } = place ?? { country: 'nowhere' }
    return [networkText(network.address, network.prefix), country, region, city]
      .filter((part) => part !== undefined)
      .join(' ')
  })
}

/** A valid line, so that a feed with bad lines still makes sense. */
const GOOD = '9.9.9.0/24,CH\n9.9.8.0/24,CH\n'

/** Why the only bad line of a feed is ignored. */
function reason(line: string | Uint8Array): string {
  const { bad, examples } = read(Buffer.concat([Buffer.from(GOOD), Buffer.from(line)]))
  assert.equal(bad, 1)
  return examples[0] ?? ''
}

describe('the entries of a geofeed', () => {
  it('have a prefix or an address, a country, a region and a city', () => {
    const text =
      '192.0.2.0/25,US,US-AL,,\r\n2001:DB8:0::/48,PL,PL-MZ,,02-784\r\n192.0.2.5,US,US-AL,Alabaster,\r\n' +
      '2001:db8:cafe::1,GB,,São Paulo,\r\n'
    assert.deepEqual(entries(text), [
      '192.0.2.0/25 US US-AL',
      '2001:db8::/48 PL PL-MZ',
      '192.0.2.5/32 US US-AL Alabaster',
      '2001:db8:cafe::1/128 GB São Paulo',
    ])
  })

  it('may lack columns at the end, and have unknown ones', () => {
    assert.deepEqual(entries('192.0.2.0/24,DE\n192.0.3.0/24,DE,DE-BE,Berlin,10115,x,"y,z"'), [
      '192.0.2.0/24 DE',
      '192.0.3.0/24 DE DE-BE Berlin',
    ])
  })

  it('have codes in any case', () => {
    assert.deepEqual(entries('192.0.2.0/24,de,De-bE,berlin'), ['192.0.2.0/24 DE DE-BE berlin'])
  })

  it('have the country of their region if they name none', () => {
    assert.deepEqual(entries('192.0.2.0/24,,de-be,Berlin,'), ['192.0.2.0/24 DE DE-BE Berlin'])
  })

  it('without a location, or with the country ZZ alone, have none', () => {
    const text = '192.0.2.0/24,,,,\n192.0.3.0/24\n192.0.4.0/24,ZZ,,,\n192.0.5.0/24,zz,,,12345'
    const expected = [2, 3, 4, 5].map((part) => `192.0.${part}.0/24 nowhere`)
    assert.deepEqual(entries(text), expected)
  })

  it('may be quoted, and have spaces around', () => {
    const quoted = entries('"192.0.2.0/24","US",US-CA,"Los ""A"" Angeles",')
    assert.deepEqual(quoted, ['192.0.2.0/24 US US-CA Los "A" Angeles'])
    const spaced = entries(' 192.0.2.0/24 ,\tUS , US-CA, Los Angeles ,')
    assert.deepEqual(spaced, ['192.0.2.0/24 US US-CA Los Angeles'])
  })

  it('may stand between blank lines and comments, and before comments', () => {
    const text =
      '\uFEFF# our feed, "old\r\r\n  \n192.0.2.0/24,DE # since 2020, "new"\n#192.0.3.0/24,DE\n'
    assert.deepEqual(entries(text), ['192.0.2.0/24 DE'])
    assert.equal(read(text).bad, 0)
  })

  it('may be nested, but not repeated: the first one counts', () => {
    const text = '192.0.2.0/24,DE\n192.0.2.0/25,FR\n192.0.2.0/24,AT\n::ffff:192.0.2.0/121,CH'
    assert.deepEqual(entries(text), ['192.0.2.0/24 DE', '192.0.2.0/25 FR'])
    assert.deepEqual(read(text).examples, [
      'line 3: 192.0.2.0/24 is already in line 1',
      'line 4: 192.0.2.0/25 is already in line 2',
    ])
  })

  it('count only within the blocks of the feed', () => {
    const text =
      '192.0.2.0/24,DE\n192.0.2.128/25,FR\n192.0.3.0/24,US\n192.0.2.0/23,GB\n2001:db8::/32,PL'
    const blocks = blocksOf('192.0.2.0/24', '2001:db8::/31')
    assert.deepEqual(entries(text, blocks), [
      '192.0.2.0/24 DE',
      '192.0.2.128/25 FR',
      '2001:db8::/32 PL',
    ])
    const { outside, bad, examples } = read(text, blocks)
    assert.deepEqual([outside, bad], [2, 0])
    assert.equal(examples[0], 'line 3: 192.0.3.0/24 is outside the blocks of the feed')
  })
})

const BAD_LINES: readonly (readonly [line: string | Uint8Array, reason: RegExp])[] = [
  [',DE,,,', /^line 3: "" is not a network/],
  ['192.0.2.1/24,DE', /"192\.0\.2\.1\/24" is not a network/],
  ['2001:db8::1/32,DE', /is not a network/],
  ['192.0.2.0/33,DE', /is not a network/],
  ['192.0.2/24,DE', /is not a network/],
  ['192.0.2.0-192.0.2.255,DE', /is not a network/],
  ['fe80::1%eth0,DE', /is not a network/],
  ['::1,DE', /is never looked up/],
  ['192.0.2.0/24,EU', /"EU" is not an ISO 3166-1 code/],
  ['192.0.2.0/24,DEU', /"DEU" is not an ISO 3166-1 code/],
  ['192.0.2.0/24,ZZ,,Berlin', /"ZZ" is not an ISO 3166-1 code/],
  ['192.0.2.0/24,ß', /"ß" is not an ISO 3166-1 code/],
  ['192.0.2.0/24,US,CA', /"CA" is not an ISO 3166-2 code/],
  ['192.0.2.0/24,US,CA-ON', /region CA-ON is not in US/],
  ['192.0.2.0/24,,,Berlin', /its city has no country/],
  ['192.0.2.0/24,DE,,Ber\u0007lin', /its city has control characters/],
  ['192.0.2.0/24,DE,,"Berlin', /a quote is not closed/],
  [Buffer.from('192.0.2.0/24,DE,,M\xfcnchen', 'latin1'), /it is not UTF-8/],
  [`192.0.2.0/24,DE,,${'x'.repeat(1_000)}`, /it is too long/],
]

describe('a bad line of a geofeed', () => {
  for (const [line, expected] of BAD_LINES) {
    it(`is left out: ${String(line).slice(0, 40)}`, () => assert.match(reason(line), expected))
  }

  it('is counted, and five are shown', () => {
    const { bad, examples, entries: good } = read(`${GOOD}bad\nbad`)
    assert.deepEqual([bad, examples.length, good.length], [2, 2, 2])
    const many = Array.from({ length: 40 }, (_, n) => `10.0.${n}.0/24,DE\n`).join('')
    assert.equal(read(many + 'bad\n'.repeat(9)).examples.length, 5)
  })
})

describe('a text that is not a geofeed', () => {
  const texts = [
    ['a page', '<!DOCTYPE html>\n<html><body>Not found</body></html>', /^it is a page/],
    ['nothing', '', /^it has no entries within its blocks$/],
    ['prose', `${GOOD}one\ntwo\nthree`, /^3 of its 5 lines are not entries, such as line 3: "one"/],
  ] as const
  for (const [name, text, message] of texts) {
    it(`is refused: ${name}`, () => assert.throws(() => read(text), { message }))
  }

  it('is refused if all entries are outside the blocks', () => {
    assert.throws(() => read(GOOD, blocksOf('192.0.2.0/24')), {
      message: /^it has no entries within its blocks, such as line 1: 9\.9\.9\.0\/24 is outside/,
    })
  })
})

describe('a geofeed with too many entries', () => {
  it('is refused before the rest of it is read', () => {
    const network = (_: unknown, n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}\n`
    const networks = Array.from({ length: 300_001 }, network)
    const rest = 'not an entry\n'.repeat(400_000)
    assert.throws(() => read(networks.join('') + rest), /^Error: it has more than 300000 entries$/)
  })
})

describe('any text', () => {
  const cell = fc.oneof(
    fc.constantFrom('', '10.0.0.0/8', '192.0.2.0/24', '2001:db8::/32', 'DE', 'us', 'ZZ', 'US-CA'),
    fc.string({ unit: 'grapheme' }),
  )
  const line = fc.array(cell, { maxLength: 6 }).map((cells) => cells.join(','))
  const file = fc.array(line).map((lines) => lines.join('\n'))

  it('is read or refused with a reason, and each line counts once', () => {
    fc.assert(
      fc.property(fc.oneof(file, fc.string({ unit: anyCharacter })), (text) => {
        const lines = text.split(/\r\n|\r|\n/).map((one) => one.replace(/#.*/s, '').trim())
        try {
          const { entries: good, bad, outside } = read(text.replace(/^\uFEFF/, ''))
          assert.equal(good.length + bad + outside, lines.filter((one) => one !== '').length)
        } catch (error) {
          assert.ok(
            error instanceof Error && !(error instanceof assert.AssertionError),
            String(error),
          )
          assert.match(error.message, /^it is a page|^it has no entries|lines are not entries/)
        }
      }),
    )
  })

  it('as bytes is read or refused with a reason', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
        try {
          read(Buffer.concat([Buffer.from(GOOD), bytes]))
        } catch (error) {
          assert.match(String(error), /lines are not entries/)
        }
      }),
    )
  })
})
