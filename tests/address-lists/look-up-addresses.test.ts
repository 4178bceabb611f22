import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type LookUp, lookUpAddresses } from '../../lib/address-lists/look-up-addresses.ts'
import type { GeolocationResult } from '../../lib/contract/geo/geolocation.ts'

/** A service that echoes its requests, and the results that were kept. */
function service(replace: Partial<LookUp<GeolocationResult>> = {}) {
  const kept: GeolocationResult[] = []
  const sent: (readonly string[])[] = []
  const lookUp: LookUp<GeolocationResult> = {
    size: 2,
    send: async (ips) => {
      sent.push(ips)
      const results = ips.map((value) => ({ query: { type: 'ip', value, ipVersion: 6 as const } }))
      return { kind: 'answered', results }
    },
    wait: async () => {},
    keep: (results) => {
      kept.push(...results)
    },
    ...replace,
  }
  return { lookUp, kept, sent }
}

describe('lookUpAddresses', () => {
  it('sends the addresses in parts, and keeps the order', async () => {
    const { lookUp, kept, sent } = service()
    await lookUpAddresses(['::1', '::2', '::3', '::4', '::5'], 0, lookUp)
    assert.deepEqual(sent, [['::1', '::2'], ['::3', '::4'], ['::5']])
    const values = kept.map(({ query }) => query?.value)
    assert.deepEqual(values, ['::1', '::2', '::3', '::4', '::5'])
  })

  it('continues where it stopped', async () => {
    const addresses = ['::1', '::2', '::3', '::4']
    const broken = service({
      send: async (ips) => {
        if (ips.includes('::3')) throw new Error('Cannot reach the service.')
        return { kind: 'answered', results: [{}, {}] }
      },
    })
    await assert.rejects(lookUpAddresses(addresses, 0, broken.lookUp), /Cannot reach/)
    assert.equal(broken.kept.length, 2)
    const { lookUp, sent } = service()
    await lookUpAddresses(addresses, broken.kept.length, lookUp)
    assert.deepEqual(sent, [['::3', '::4']])
  })

  it('waits as long as the service says, but gives up in the end', async () => {
    const waits: number[] = []
    let sent = 0
    const { lookUp, kept } = service({
      send: async () => {
        sent += 1
        return sent < 3 ? { kind: 'wait', seconds: sent } : { kind: 'answered', results: [{}] }
      },
      wait: async (seconds) => {
        waits.push(seconds)
      },
    })
    await lookUpAddresses(['::1'], 0, lookUp)
    assert.deepEqual(waits, [1, 2])
    assert.equal(kept.length, 1)
    const { lookUp: never } = service({ send: async () => ({ kind: 'wait', seconds: 1 }) })
    await assert.rejects(lookUpAddresses(['::1'], 0, never), /too busy/)
  })
})
