import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { openDb } from '../../lib/db/open.ts'
import { makeOlder } from '../support/database/older-database.ts'

describe('an upgrade to thresholds that can be set', () => {
  it('keeps the counts, and which notices were given', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'meridian-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const file = makeOlder(
      folder,
      40,
      `INSERT INTO usage_by_period (user_id, period_start, requests, warned, overage,
         overage_reported, warned_cap, spent, spent_at, warned_units)
       VALUES ('ada', 1, 9, 80, 2, 1, 10, 0.5, 7, 3);
       INSERT INTO cap_notices (id, channel, user_id, email, threshold, requests, state, created_at,
         queued_at, due_at, attempts) VALUES ('1', 'mail', 'ada', 'a@example.com', 'near_cap', 10,
         'waiting', 1, 1, 1, 0)`,
    )
    const { $client } = openDb(file)
    t.after(() => $client.close())
    const read = (sql: string) => $client.prepare(sql).raw().all()
    assert.deepEqual(
      read(`SELECT user_id, period_start, requests, warned, overage, overage_reported, warned_cap,
        spent, spent_at, warned_units FROM usage_by_period`),
      [['ada', 1, 9, 80, 2, 1, 10, 0.5, 7, 3]],
    )
    assert.deepEqual(read('SELECT id, percent, receiver_id FROM cap_notices'), [['1', 80, null]])
    const trigger =
      "INSERT INTO usage_by_period (user_id, period_start, requests) VALUES ('x', 1, 1)"
    assert.equal($client.prepare(trigger).run().changes, 0, 'counts of nobody are dropped')
  })
})
