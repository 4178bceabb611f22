import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { openPlain } from '../../../lib/db/connection.ts'
import { openDb } from '../../../lib/db/open.ts'
import { hourOf } from '../../../lib/rum/hour.ts'
import { createReadStore } from '../../../lib/rum/read/read-store.ts'
import { makeOldDatabase } from '../../support/data-folder.ts'
import { NOON } from '../../support/helpers.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const BEFORE_SAMPLES = 15

it('an upgrade keeps the first sample of each kind of error and day, and all counts', async () => {
  const file = join(tempFolder(), 'old.db')
  makeOldDatabase(file, BEFORE_SAMPLES)
  const client = openPlain(file)
  const insert = client.prepare('INSERT INTO rum_errors VALUES (?, ?, ?, ?, ?, ?, ?)')
  const hour = hourOf(NOON)
  const day = Math.floor(hour / 24)
  const add = (at: number, hash: string, sample: string) =>
    insert.run('site', at, hash, 2, at, at, JSON.stringify({ message: sample }))
  add(hour + 1, 'a', 'second of the day')
  add(hour, 'a', 'first of the day')
  add(hour + 24, 'a', 'next day')
  add(hour + 1, 'b', 'another kind')
  client.close()
  const { engine } = openDb(file)
  const store = createReadStore(async (sql, params) => (await engine.execute({ sql, params })).rows)
  const messageOf = async (at: number, hash: string) =>
    (await store.findErrorSample({ siteId: 'site', day: at, hash }))?.message
  assert.equal(await messageOf(day, 'a'), 'first of the day')
  assert.equal(await messageOf(day, 'b'), 'another kind')
  assert.equal(await messageOf(day + 1, 'a'), 'next day')
  assert.equal(await messageOf(day + 1, 'b'), undefined)
  assert.deepEqual(await store.totalErrors('site', { from: hour, to: hour + 24 }), [
    { hash: 'a', count: 6, firstAt: hour, lastAt: hour + 24 },
    { hash: 'b', count: 2, firstAt: hour + 1, lastAt: hour + 1 },
  ])
})
