import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compileLists } from '../../../lib/geo/network-lists/compile-lists.ts'
import { FREE_LISTS } from '../../../lib/geo/network-lists/free-lists.ts'
import { addressOf, networkOf } from '../../support/networks.ts'
import { openBytes } from '../open-file.ts'

const BUILT_AT = Date.UTC(2026, 10, 25)

/** What the compiled lists state about addresses. */
async function compile(networksById: Readonly<Record<string, readonly string[]>>) {
  const lists = FREE_LISTS.map((list) => ({
    list,
    networks: (networksById[list.id] ?? []).map(networkOf),
  }))
  const database = await openBytes(compileLists(lists, BUILT_AT))
  return { database, find: (text: string) => database.findPrivacy(addressOf(text)) }
}

describe('compiled lists', () => {
  it('are a database about privacy that names its sources', async () => {
    const { database, find } = await compile({ aws: ['3.0.0.0/15'], tor: ['185.1.2.3/32'] })
    const { subject, provider, metadata } = database
    assert.deepEqual([subject, provider], ['privacy', 'lists'])
    assert.deepEqual([metadata.databaseType, metadata.builtAt], ['Meridian-Lists', BUILT_AT])
    const aws = { privacy: { hosting: true, service: 'Amazon AWS' }, sources: ['aws'] }
    assert.deepEqual(find('3.0.0.0'), aws)
    assert.deepEqual(find('3.1.255.255'), aws)
    assert.equal(find('3.2.0.0'), undefined)
    assert.deepEqual(find('185.1.2.3'), { privacy: { tor: true }, sources: ['tor'] })
    assert.equal(find('185.1.2.2'), undefined)
  })

  it('join the flags of all lists, and take the service of the narrowest network', async () => {
    const { find } = await compile({
      'cloudflare-4': ['104.16.0.0/13'],
      icloud: ['104.16.1.0/28'],
      tor: ['104.16.1.1/32'],
      'datacenter-4': ['104.0.0.0/8'],
    })
    assert.deepEqual(find('104.16.1.1'), {
      privacy: { hosting: true, tor: true, relay: true, service: 'iCloud Private Relay' },
      sources: ['cloudflare', 'apple', 'tor', 'x4bnet'],
    })
    assert.deepEqual(find('104.16.1.16'), {
      privacy: { hosting: true, service: 'Cloudflare' },
      sources: ['cloudflare', 'x4bnet'],
    })
    assert.deepEqual(find('104.0.0.0'), { privacy: { hosting: true }, sources: ['x4bnet'] })
  })

  it('take the service of the first list that has a network', async () => {
    const { find } = await compile({
      aws: ['34.0.0.0/8'],
      'google-cloud': ['34.80.0.0/15'],
      google: ['34.80.0.0/15', '34.64.0.0/10'],
      'vpn-4': ['34.80.0.0/15'],
    })
    assert.deepEqual(find('34.80.0.1'), {
      privacy: { hosting: true, vpn: true, service: 'Google Cloud' },
      sources: ['aws', 'google', 'x4bnet'],
    })
    assert.equal(find('34.64.0.1')?.privacy.service, 'Google')
    assert.equal(find('34.0.0.1')?.privacy.service, 'Amazon AWS')
  })

  it('hold IPv6, and IPv4 inside IPv6', async () => {
    const { find } = await compile({ azure: ['2603:1000::/24', '20.0.0.0/12'] })
    assert.equal(find('2603:10ff::1')?.privacy.service, 'Microsoft Azure')
    assert.equal(find('2603:1100::1'), undefined)
    assert.equal(find('::ffff:20.1.2.3')?.privacy.service, 'Microsoft Azure')
  })
})
