import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { openPlain } from '../../lib/db/connection.ts'
import { openDb } from '../../lib/db/open.ts'
import { makeOldDatabase } from '../support/data-folder.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** The last version whose proofs were of an origin, not of a host. */
const BEFORE_HOSTS = 14

const ORIGINS = [
  'https://shop.example',
  'http://shop.example:8080',
  'http://shop2:3000',
  'http://shop2',
  'http://192.0.2.1',
  'http://192.0.2.1:80',
  'https://[2001:db8::1]',
  'https://[2001:db8::1]:8443',
]

describe('the migration to proofs of hosts', () => {
  it('finds the host of every origin, and ends first registrations on hosts that another user has proved', () => {
    const file = join(tempFolder(), 'app.db')
    makeOldDatabase(file, BEFORE_HOSTS)
    const old = openPlain(file)
    const user = old.prepare('INSERT INTO users (id, email, plan, created_at) VALUES (?, ?, ?, 1)')
    for (const id of ['mallory', 'alice']) user.run(id, `${id}@example.com`, 'free')
    const site = old.prepare(
      'INSERT INTO sites (id, user_id, name, created_at, proven_at, is_first) VALUES (?, ?, ?, 1, ?, 1)',
    )
    for (const name of ORIGINS) site.run(name, 'mallory', name, null)
    site.run('proven', 'alice', 'http://shop.example', 1)
    old.close()
    const db = openDb(file)
    const all = db.$client.prepare('SELECT id, name, host, is_first AS isFirst FROM sites').all()
    const expected = [...ORIGINS, 'http://shop.example'].map((name) => {
      const host = new URL(name).hostname
      const id = name === 'http://shop.example' ? 'proven' : name
      return { id, name, host, isFirst: host === 'shop.example' && id !== 'proven' ? 0 : 1 }
    })
    assert.deepEqual(all, expected)
    db.$client.close()
  })
})
