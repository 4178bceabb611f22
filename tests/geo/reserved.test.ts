import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { operatorFiles } from '../../lib/geo/files/source-files.ts'
import { openLibrary } from '../../lib/geo/library.ts'
import { compileOverlay } from '../../lib/geo/overlay/overlay.ts'
import { parseAddress } from '../../lib/parts/net/address.ts'
import { parseNetwork } from '../../lib/parts/net/network.ts'
import { isPublic, isPublicNetwork, publicBits } from '../../lib/parts/net/public-address.ts'
import { REGISTRIES_DATE, SPECIAL_PURPOSE } from '../../lib/parts/net/special-purpose.ts'
import { CLIENT_TABLES } from '../../scripts/release/client-tables.ts'
import { mmdbBytes } from '../support/geo-files.ts'
import { recordingLog } from '../support/helpers.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = tempFolder()

/** Addresses, whether hosts on the Internet may have them, and why. */
const ROWS: readonly (readonly [address: string, isPublic: boolean, source: string])[] = [
  ['192.0.0.8', false, 'RFC 7600'],
  ['192.0.0.9', true, 'RFC 7723, an exception in 192.0.0.0/24'],
  ['192.0.0.10', true, 'RFC 8155, an exception'],
  ['192.0.0.11', false, 'RFC 6890'],
  ['192.0.0.170', false, 'RFC 7050'],
  ['192.31.196.1', true, 'RFC 7535'],
  ['192.88.99.1', false, 'RFC 7526'],
  ['192.175.48.1', true, 'RFC 7534'],
  ['198.17.255.255', true, 'before 198.18.0.0/15'],
  ['198.19.255.255', false, 'RFC 2544'],
  ['198.20.0.0', true, 'after it'],
  ['223.255.255.255', true, 'before multicast'],
  ['239.1.2.3', false, 'RFC 5771'],
  ['240.0.0.1', false, 'RFC 1112'],
  ['2001:1::1', true, 'RFC 7723, an exception in 2001::/23'],
  ['2001:1::4', false, 'RFC 2928'],
  ['2001:2::1', false, 'RFC 5180'],
  ['2001:3::1', true, 'RFC 7450'],
  ['2001:4:112::1', true, 'RFC 7535'],
  ['2001:4:113::1', false, 'RFC 2928'],
  ['2001:10::1', false, 'RFC 4843'],
  ['2001:1f:ffff::', false, 'RFC 4843'],
  ['2001:20::1', true, 'RFC 7343'],
  ['2001:30::1', true, 'RFC 9374'],
  ['2001:40::1', false, 'RFC 2928'],
  ['2001:1ff::1', false, 'RFC 2928'],
  ['2001:200::1', true, 'after 2001::/23'],
  ['2001:db8::1', false, 'RFC 3849'],
  ['2620:4f:8000::1', true, 'RFC 7534'],
  ['3fff::1', false, 'RFC 9637'],
  ['3fff:fff:ffff::', false, 'RFC 9637'],
  ['3fff:1000::1', true, 'after 3fff::/20'],
  ['5f00::1', false, 'RFC 9602'],
  ['100::1', false, 'RFC 6666'],
  ['100:0:0:1::1', false, 'RFC 9780'],
  ['64:ff9b:1::8.8.8.8', false, 'RFC 8215'],
  ['64:ff9b::8.8.8.8', true, 'RFC 6052: the address inside'],
  ['64:ff9b::10.0.0.1', false, 'RFC 6052: the address inside'],
  ['2002:808:808::1', true, 'RFC 3056: the address inside'],
  ['2002:a00:1::1', false, 'RFC 3056, section 2: not with private addresses'],
  ['2002:c0a8:1::1', false, 'RFC 3056, section 2'],
  ['2001:0:1:2:3:4:f7f7:f7f7', true, 'RFC 4380: 8.8.8.8 inside'],
  ['2001:0:1:2:3:4:f5ff:fffe', false, 'RFC 4380: 10.0.0.1 inside'],
  ['::ffff:8.8.8.8', true, 'RFC 4291'],
  ['::ffff:192.168.1.1', false, 'RFC 4291'],
  ['::8.8.8.8', false, 'RFC 4291: deprecated'],
  ['fec0::1', false, 'RFC 3879'],
  ['4000::1', false, 'not allocated'],
]

function parse(text: string) {
  const address = parseAddress(text)
  assert.ok(address, text)
  return address
}

/** Opens a database that has a place for every address, and before it the operator's file. */
async function openWith(own?: Uint8Array) {
  const everywhere = { country: { iso_code: 'DE' }, city: { names: { en: 'Everywhere' } } }
  const files = [join(folder, 'all.mmdb')]
  writeFileSync(files[0] ?? '', mmdbBytes({ '::/1': everywhere, '0.0.0.0/0': everywhere }))
  if (own !== undefined) {
    files.unshift(join(folder, 'own.mmdb'))
    writeFileSync(files[0] ?? '', own)
  }
  const options = { map: false, cacheBits: 8, regionCode: () => undefined, log: recordingLog() }
  return openLibrary({ findFiles: () => operatorFiles(folder, files), ...options })
}

describe('reserved addresses', () => {
  it('are the same in all clients', () => {
    for (const [path, text] of Object.entries(CLIENT_TABLES)) {
      assert.equal(readFileSync(join('sdk', path), 'utf8'), text, path)
    }
  })

  it('are those of the registries of IANA', () => {
    assert.match(REGISTRIES_DATE, /^20\d\d-\d\d-\d\d$/)
    for (const [text, reachable] of SPECIAL_PURPOSE) {
      const network = parseNetwork(text)
      assert.ok(network, text)
      // A narrower network may begin with the same address.
      const isFirst = SPECIAL_PURPOSE.some(
        ([other]) => other !== text && parseNetwork(other)?.address.text === network.address.text,
      )
      if (reachable === 'inside' || isFirst) continue
      assert.equal(isPublic(network.address), reachable, text)
    }
  })

  it('have no place, whatever a database says', async () => {
    const library = await openWith()
    for (const [text, isReachable, source] of ROWS) {
      const address = parse(text)
      assert.equal(isPublic(address), isReachable, `${text}: ${source}`)
      const { place } = library.find(address)
      assert.equal(place !== undefined, isReachable, `${text}: ${source}`)
    }
  })

  it('are in a network that holds them in another form', () => {
    const networks = [
      ['8.8.8.0/24', true, 'all public'],
      ['8.0.0.0/6', false, 'holds 10.0.0.0/8'],
      ['2002:808::/32', true, '6to4 of 8.8.0.0/16'],
      ['2002:808:808:1::/64', true, '6to4 of 8.8.8.8'],
      ['2002:800::/22', false, '6to4 of 8.0.0.0/6'],
      ['2002::/16', false, '6to4 of all'],
      ['64:ff9b::8.8.8.0/120', true, 'NAT64 of 8.8.8.0/24'],
      ['64:ff9b::8.0.0.0/102', false, 'NAT64 of 8.0.0.0/6'],
      ['64:ff9b::/96', false, 'NAT64 of all'],
      ['::ffff:192.0.0.0/112', false, 'mapped 192.0.0.0/16'],
      ['2001:0:1:2:3:4:f7f7:f700/120', true, 'Teredo of 8.8.8.0/24'],
      ['2001:0:1:2:3:4:f700:0/104', true, 'Teredo of 8.0.0.0/8'],
      ['2001:0:1:2:3:4:f400:0/102', false, 'Teredo of 8.0.0.0/6'],
      ['2001:0:1:2::/64', false, 'Teredo of all'],
      ['2002::/15', false, 'holds 2002::/16'],
      ['2000::/3', false, 'holds all of these'],
      ['2a00::/12', true, 'holds none'],
    ] as const
    for (const [text, expected, source] of networks) {
      const network = parseNetwork(text)
      assert.ok(network, text)
      assert.equal(isPublicNetwork(network), expected, `${text}: ${source}`)
    }
  })

  const france = { country: { iso_code: 'FR' } }
  const own = {
    'the overlay': compileOverlay('10.0.0.0/8,country=FR,city=Lyon\nfd00::/8,country=FR\n', {
      builtAt: 0,
      regionNames: {},
    }),
    'a file of no known provider': mmdbBytes(
      { '10.0.0.0/8': france, 'fd00::/8': france },
      { databaseType: 'Offices' },
    ),
  }
  for (const [name, bytes] of Object.entries(own)) {
    it(`have the place that the operator says in ${name}`, async () => {
      const library = await openWith(bytes)
      const countryOf = (text: string) => library.find(parse(text)).place?.country?.code
      const found = ['10.1.2.3', 'fd00::1', '192.168.0.1', '8.8.8.8'].map(countryOf)
      assert.deepEqual(found, ['FR', 'FR', undefined, 'DE'])
    })
  }

  it('have a prefix in which all addresses are reserved, as others have one in which none is', async () => {
    const library = await openWith()
    for (const [text, expected] of ROWS) {
      const address = parse(text)
      const network = parseNetwork(library.prefix(address, 'place'))
      assert.ok(network && network.prefix >= publicBits(address), text)
      assert.equal(isPublicNetwork(network), expected, text)
    }
  })
})
