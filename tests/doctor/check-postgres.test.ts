import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  checkPostgres,
  checkPostgresClock,
  type PostgresState,
} from '../../lib/doctor/check-postgres.ts'
import { MINUTE_MS } from '../../lib/parts/durations.ts'
import { NOON } from '../support/helpers.ts'
import { allLines } from './findings.ts'

const node = { version: '1.0.0', sinceHeartbeatMs: 200, missedChanges: 0 }
const server = { version: '15.18', bytes: 12_300_000 }
const state: PostgresState = { ...server, pending: [], nodes: [node, node], leftCommits: 0 }
const check = (changes: Partial<PostgresState>) => allLines(checkPostgres({ ...state, ...changes }))

describe('the check of PostgreSQL', () => {
  it('names its version and its servers', () => {
    assert.deepEqual(check({}), [
      'ok: PostgreSQL 15.18, 12.3 MB, up to date',
      'ok: 2 servers use the database, of version 1.0.0',
    ])
    assert.equal(check({ nodes: [node] })[1], 'ok: 1 server uses the database, of version 1.0.0')
    assert.equal(check({ nodes: [] })[1], 'ok: 0 servers use the database')
  })

  it('reports migrations that the next start applies', () => {
    const [line = '', ...others] = check({ pending: ['0025-more.sql'] })
    assert.match(
      line,
      /^warning: PostgreSQL 15\.18, 12\.3 MB, lacks 0025-more\.sql → make a backup/,
    )
    assert.deepEqual(others, [])
  })

  it('reports servers of several versions, silent ones and those that miss changes of keys', () => {
    const nodes = [
      { ...node, version: '1.1.0' },
      { ...node, sinceHeartbeatMs: 7_400 },
      { ...node, missedChanges: 3 },
    ]
    const [, versions = '', silent = '', missing = ''] = check({ nodes })
    assert.match(versions, /^warning: 3 servers .* of version 1\.0\.0 and 1\.1\.0 → start all/)
    assert.match(silent, /^warning: The last heartbeat of a server was 7 s ago → see its log/)
    assert.match(missing, /^warning: A server has not applied the last 3 changes of keys/)
  })

  it('reports beacons of servers that have ended', () => {
    const [, , left = ''] = check({ leftCommits: 5 })
    assert.match(left, /^ok: 5 groups of beacons .* not summed up yet/)
    assert.match(check({ leftCommits: 5, nodes: [] })[2] ?? '', /^warning: 5 groups of beacons/)
  })

  it('compares the clocks', () => {
    const now = allLines([checkPostgresClock(NOON + MINUTE_MS, NOON)]).join()
    assert.match(now, /^ok: The clock says /)
    const late = allLines([checkPostgresClock(NOON + MINUTE_MS + 1, NOON)]).join()
    assert.match(late, /^wrong: .* PostgreSQL says/)
  })
})
