import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FREE_LISTS } from '../../../lib/geo/network-lists/free-lists.ts'
import { checkSize, readNetworks } from '../../../lib/geo/network-lists/read-networks.ts'
import { pathOf, publishedFiles } from './published.ts'

const listOf = (id: string) => FREE_LISTS.find((one) => one.id === id) ?? assert.fail(id)
const [vpn, aws] = [listOf('vpn-4'), listOf('aws')]
const plausible = Array.from({ length: 1_000 }, (_, n) => `45.${n >> 8}.${n & 255}.0/24`)
const read = (...more: readonly string[]) => readNetworks(vpn, [...plausible, ...more].join('\n'))

describe('a list', () => {
  it('is accepted with blank lines, comments, Windows line ends and repetitions', () => {
    const text = `# a comment\r\n\r\n${plausible.join('\r\n')}\r\n45.0.0.0/24 # again\r\n`
    assert.equal(readNetworks(vpn, text).length, 1_000)
  })

  it('is refused if it is a page or nothing', () => {
    const page = '<!DOCTYPE html>\n<html><body>\n<h1>Sorry</h1>\n</body></html>\n'
    const refused = (list: typeof vpn, text: string, reason: RegExp) =>
      assert.throws(() => readNetworks(list, text), reason)
    refused(vpn, page, /4 of its 4 entries are not public .* "<!DOCTYPE html>"/)
    refused(vpn, '', /it has 0 networks; at least 500 are expected/)
    refused(aws, page, /it is not JSON: /)
    refused(aws, '{"prefixes":[]}', /another form than before: ipv6_prefixes/)
    refused(aws, '{"prefixes":[],"ipv6_prefixes":[]}', /it has 0 networks/)
  })

  const mistakes = [
    ...['0.0.0.0/0', '45.0.0.0/7', '2000::/3', '2a00::/15'],
    ...['10.0.0.0/8', '192.168.1.1', '100.64.0.0/16', '127.0.0.1', '224.0.0.0/8', '240.0.0.1'],
    ...['172.0.0.0/8', '198.0.0.0/8', '::1', 'fd00::/16', 'fe80::/64', '2001:db8::/48'],
    ...['2001::/16', '45.0.0.1/24', '45.0.0.0/33', '45.0.0', 'localhost', '45.0.0.0-45.0.0.255'],
  ]
  for (const mistake of mistakes) {
    it(`drops the entry ${mistake}, and is refused if there are many such entries`, () => {
      assert.deepEqual(read(mistake), read())
      const many = Array.from({ length: 11 }, (_, n) => `no network ${n}`)
      assert.throws(() => read(mistake, ...many), /^Error: 12 of its 1012 entries are not public/)
    })
  }

  it('is refused if it covers more than a quarter of the IPv4 addresses', () => {
    const wide = Array.from({ length: 65 }, (_, n) => `${n + 20}.0.0.0/8`)
    assert.throws(() => read(...wide), /more than a quarter of all IPv4 addresses/)
    assert.equal(read(...wide.slice(0, 60)).length, 1_060)
  })

  it('is refused if it has less than half of the networks of before', () => {
    checkSize(500, 1_000)
    checkSize(1, undefined)
    const reason = /has 499 networks, less than half of the 1000 before/
    assert.throws(() => checkSize(499, 1_000), reason)
  })
})

const files = publishedFiles(1)
const textOf = (id: string) => Buffer.from(files.get(pathOf(id))?.bytes ?? []).toString()

/** All that looks like a network or an address, with the prefix of an address. */
function networksIn(text: string): Set<string> {
  const found = text.match(/(\d+\.){3}\d+(\/\d+)?|[\da-f]+:[\da-f:]*\/\d+/g) ?? []
  return new Set(found.map((one) => (one.includes('/') ? one : `${one}/32`)))
}

describe('a free list', () => {
  for (const list of FREE_LISTS) {
    it(`of ${list.name} is read in the form of its owner, each network once`, () => {
      const text = textOf(list.id)
      const networks = readNetworks(list, text)
      const texts = networks.map(({ address, prefix }) => `${address.text}/${prefix}`)
      assert.deepEqual(new Set(texts), networksIn(text))
      assert.equal(texts.length, new Set(texts).size)
    })
  }

  it('has an id of its own', () => {
    assert.equal(new Set(FREE_LISTS.map(({ id }) => id)).size, FREE_LISTS.length)
  })
})
