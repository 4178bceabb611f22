import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Privacy } from '../../../lib/contract/geo/privacy.ts'
import { joinFindings } from '../../../lib/geo/privacy/finding.ts'

const from = (source: string, privacy: Privacy) => ({ privacy, sources: [source] })

describe('what several databases state about privacy', () => {
  it('is nothing if none states anything', () => {
    assert.equal(joinFindings([]), undefined)
  })

  it('is what the only one states', () => {
    const only = from('maxmind', { vpn: true })
    assert.deepEqual(joinFindings([only]), only)
  })

  it('has a flag if one states it, with all who do', () => {
    const joined = joinFindings([
      from('ipinfo', { hosting: true, vpn: false, tor: false }),
      from('maxmind', { vpn: true }),
      from('ip2proxy', { vpn: true }),
    ])
    assert.deepEqual(joined, {
      privacy: { hosting: true, vpn: true, tor: false },
      sources: ['ipinfo', 'maxmind', 'ip2proxy'],
    })
  })

  it('leaves out a source whose statements are not in it', () => {
    const joined = joinFindings([from('ipinfo', { vpn: false }), from('maxmind', { vpn: true })])
    assert.deepEqual(joined, { privacy: { vpn: true }, sources: ['maxmind'] })
  })

  it('has the service and the provider of the first that names one, and each source once', () => {
    const joined = joinFindings([
      from('maxmind', { vpn: true, provider: 'One' }),
      from('ipinfo', { service: 'Two', provider: 'Three' }),
      { privacy: { hosting: true, service: 'Four' }, sources: ['aws', 'maxmind'] },
    ])
    assert.deepEqual(joined, {
      privacy: { hosting: true, vpn: true, service: 'Two', provider: 'One' },
      sources: ['maxmind', 'ipinfo', 'aws'],
    })
  })
})
