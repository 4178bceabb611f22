import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type GeoData, geoJson } from '../../scripts/geo/geo-json.ts'

const AT = Date.UTC(2026, 2, 1)
const TIME = '2026-03-01T00:00:00.000Z'
const MINE = {
  name: 'Mine',
  path: '/srv/Mine.mmdb',
  provider: 'maxmind',
  databaseType: 'GeoLite2-City',
  ipVersion: 4,
  records: 2,
  bytes: 100,
} as const

const toObject = (data: Partial<GeoData>) =>
  JSON.parse(geoJson({ databases: [], lists: [], feeds: [], ...data }))

describe('the JSON of npm run geo', () => {
  it('lists databases, and why others cannot be served', () => {
    const databases: GeoData['databases'] = [
      { ...MINE, builtAt: AT },
      { name: 'bad', problem: 'not a MaxMind DB', hasLastUsable: false, isAwaited: false },
    ]
    assert.deepEqual(toObject({ databases }), {
      databases: [
        { ...MINE, builtAt: TIME },
        { name: 'bad', problem: 'not a MaxMind DB' },
      ],
      lists: [],
      geofeeds: [],
    })
  })

  it('lists free lists and geofeeds with their times and problems', () => {
    const lists = [
      { id: 'tor', name: 'Tor exits', networks: 7, checkedAt: AT },
      { id: 'aws', name: 'Amazon AWS', failure: { at: AT, reason: 'it is not JSON' } },
    ] as const
    const feeds = [{ source: 'own.csv', entries: 5, outside: 1, bad: 1, examples: ['line 1: x'] }]
    const { lists: shownLists, geofeeds } = toObject({ lists: [...lists], feeds })
    assert.deepEqual(shownLists, [
      { name: 'Tor exits', networks: 7, checkedAt: TIME },
      { name: 'Amazon AWS', problem: 'it is not JSON' },
    ])
    assert.deepEqual(geofeeds, [
      { source: 'own.csv', networks: 5, outside: 1, bad: 1, examples: ['line 1: x'] },
    ])
  })
})
