import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FREE_LISTS } from '../../../lib/geo/network-lists/free-lists.ts'
import { readNetworks } from '../../../lib/geo/network-lists/read-networks.ts'
import { pathOf, publishedFiles } from './published.ts'

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
