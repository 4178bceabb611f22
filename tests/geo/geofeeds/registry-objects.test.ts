import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { findGeofeeds } from '../../../lib/geo/geofeeds/find-geofeeds.ts'
import { readRegistryObjects } from '../../../lib/geo/geofeeds/registry-objects.ts'
import { ipv4FromBits } from '../../../lib/parts/net/address.ts'
import { networkText, parseNetwork } from '../../../lib/parts/net/network.ts'
import { networkOf } from '../../support/networks.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const FEED = 'https://example.net/geofeed.csv'

/** The feeds in one line each. */
function read(text: string): string[] {
  return readRegistryObjects(text).map(({ source, blocks }) =>
    [source, ...blocks.map(({ address, prefix }) => networkText(address, prefix))].join(' '),
  )
}

describe('registry objects', () => {
  it('refer to a feed by their attribute, or by a remark', () => {
    const text = `% This is a registry

inetnum:        192.0.2.0 - 192.0.2.255
netname:        EXAMPLE
geofeed:        ${FEED}
source:         REGISTRY # Filtered

inet6num:       2001:db8::/32
remarks:        Our own network
remarks:        Geofeed ${FEED}

inetnum:        198.51.100.0/24
descr:          without a feed

route:          203.0.113.0/24
`
    assert.deepEqual(read(text), [`${FEED} 192.0.2.0/24 2001:db8::/32`])
  })

  it('of ARIN state their blocks as CIDR', () => {
    const text = `NetRange:       192.0.2.0 - 192.0.2.191\r
CIDR:           192.0.2.0/25, 192.0.2.128/26\r
Comment:        Geofeed ${FEED}\r
`
    assert.deepEqual(read(text), [`${FEED} 192.0.2.0/25 192.0.2.128/26`])
  })

  it('with both kinds of reference refer by the attribute', () => {
    const text = `inetnum: 192.0.2.0/24\nremarks: Geofeed https://old.example/\ngeofeed: ${FEED}`
    assert.deepEqual(read(text), [`${FEED} 192.0.2.0/24`])
  })

  it('refer only to https, and not by other remarks', () => {
    const remarks = ['Geofeed http://example.net/', `See Geofeed ${FEED}`, `geofeed ${FEED}`]
    for (const remark of remarks) {
      assert.deepEqual(read(`inetnum: 192.0.2.0/24\nremarks: ${remark}`), [], remark)
    }
  })

  it('have ranges that become the fewest blocks with the same addresses', () => {
    const bits = fc.integer({ min: 0, max: 2 ** 32 - 1 })
    fc.assert(
      fc.property(bits, bits, (one, other) => {
        const [first, last] = [Math.min(one, other), Math.max(one, other)]
        const range = `${ipv4FromBits(first).text} - ${ipv4FromBits(last).text}`
        const [feed] = readRegistryObjects(`inetnum: ${range}\ngeofeed: ${FEED}`)
        let next = first
        for (const { address, prefix } of feed?.blocks ?? []) {
          assert.ok(parseNetwork(`${address.text}/${prefix}`))
          assert.equal(address.version === 4 && address.bits >>> 0, next)
          next += 2 ** (32 - prefix)
        }
        assert.equal(next, last + 1)
        assert.ok((feed?.blocks.length ?? 0) <= 62)
      }),
    )
  })

  it('of any form are read or refused with a reason', () => {
    const line = fc.oneof(
      fc.string(),
      fc.constantFrom('', 'inetnum: 1.2.3.4 - 1.2.3.9', `geofeed: ${FEED}`, 'inet6num: ::/0'),
      fc.string().map((value) => `inetnum: ${value}`),
    )
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        try {
          readRegistryObjects(lines.join('\n'))
        } catch (error) {
          assert.match(String(error), /is not a range of IPv4 addresses or a network/)
        }
      }),
    )
  })
})

describe('the geofeeds of a file of registry objects', () => {
  const folder = tempFolder()
  const objects = join(folder, 'whois.txt')
  const block = networkOf('192.0.2.0/25')

  it('are joined with those of the settings', () => {
    writeFileSync(objects, `inetnum: 192.0.2.0/24\ngeofeed: ${FEED}\n`)
    const found = findGeofeeds([{ source: FEED, blocks: [block] }, { objects }])
    const sizes = found.map(({ source, blocks }) => `${source} ${blocks.length}`)
    assert.deepEqual(sizes, [`${FEED} 2`])
  })

  it('are refused if they have a block of another setting', () => {
    writeFileSync(objects, `inetnum: 192.0.2.0/25\ngeofeed: ${FEED}\n`)
    assert.throws(() => findGeofeeds([{ source: 'own.csv', blocks: [block] }, { objects }]), {
      message: 'Cannot use the geofeeds: they must not have the block 192.0.2.0/25 twice',
    })
  })

  it('are refused if there are none, or no file', () => {
    writeFileSync(objects, '192.0.2.0/24,DE,,,\n')
    assert.throws(() => findGeofeeds([{ objects }]), {
      message:
        /^Cannot read the registry objects in .*whois\.txt: it has no object with a geofeed;/,
    })
    assert.throws(() => findGeofeeds([{ objects: join(folder, 'none') }]), { message: /ENOENT/ })
  })
})
