import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { openPlain } from '../../../lib/db/connection.ts'
import { openDb } from '../../../lib/db/open.ts'
import { hourOf } from '../../../lib/rum/hour.ts'
import { createRumStore } from '../../../lib/rum/store/store.ts'
import { makeOldDatabase } from '../../support/data-folder.ts'
import { NOON } from '../../support/helpers.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const BEFORE_SAMPLES = 15

it('an upgrade keeps the first sample of each kind of error and day, and all counts', () => {
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
  const store = createRumStore(openDb(file))
  const messageOf = (at: number, hash: string) =>
    store.findErrorSample({ siteId: 'site', day: at, hash })?.message
  assert.equal(messageOf(day, 'a'), 'first of the day')
  assert.equal(messageOf(day, 'b'), 'another kind')
  assert.equal(messageOf(day + 1, 'a'), 'next day')
  assert.equal(messageOf(day + 1, 'b'), undefined)
  assert.deepEqual(store.totalErrors('site', { from: hour, to: hour + 24 }), [
    { hash: 'a', count: 6, firstAt: hour, lastAt: hour + 24 },
    { hash: 'b', count: 2, firstAt: hour + 1, lastAt: hour + 1 },
  ])
})
