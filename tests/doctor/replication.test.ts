import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { openPlain } from '../../lib/db/connection.ts'
import { checkReplication } from '../../lib/doctor/check-replication.ts'
import { hasLitestream, readReplication } from '../../lib/doctor/replication.ts'
import { makeDataFolder } from '../support/data-folder.ts'
import { NOON } from '../support/helpers.ts'
import { ON_POSIX } from '../support/runtime.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { allLines } from './findings.ts'
import { startLitestreamServer } from './litestream-server.ts'

const folder = tempFolder()
const Problem = v.object({ problem: v.string() })

/** A database with changes in its write-ahead log, which a connection keeps open. */
async function openFolder() {
  const { dataDir } = await makeDataFolder(folder)
  const client = openPlain(join(dataDir, 'app.db'))
  client.pragma('journal_mode = WAL')
  client.pragma('wal_autocheckpoint = 0')
  client.exec('CREATE TABLE numbers (number INTEGER)')
  return {
    dataDir,
    add: (count: number) => {
      for (let n = 0; n < count; n++) client.prepare('INSERT INTO numbers VALUES (?)').run(n)
    },
    /** Where the log ends: it has not begun anew. */
    logEnd: () => statSync(join(dataDir, 'app.db-wal')).size,
    [Symbol.dispose]: () => {
      client.close()
    },
  }
}

describe('readReplication', () => {
  it('says when the copy was complete, and how much of the log waits', ON_POSIX, async () => {
    using database = await openFolder()
    await using litestream = await startLitestreamServer(database.dataDir)
    assert.ok(hasLitestream(database.dataDir))
    database.add(3)
    const read = database.logEnd()
    litestream.answer({ syncedAt: NOON, read })
    assert.deepEqual(await readReplication(database.dataDir), { syncedAt: NOON, unread: 0 })
    database.add(5)
    const unread = database.logEnd() - read
    assert.ok(unread > 0)
    assert.deepEqual(await readReplication(database.dataDir), { syncedAt: NOON, unread })
  })

  it('says that nothing was copied since Litestream started', ON_POSIX, async () => {
    using database = await openFolder()
    await using litestream = await startLitestreamServer(database.dataDir)
    litestream.answer({ read: 0 })
    const unread = database.logEnd()
    assert.deepEqual(await readReplication(database.dataDir), { syncedAt: 0, unread })
  })

  it('says why Litestream does not answer', async () => {
    using database = await openFolder()
    assert.equal(hasLitestream(database.dataDir), false)
    const { problem } = v.parse(Problem, await readReplication(database.dataDir))
    assert.match(problem, /ENOENT.*litestream\.sock/)
  })
})

describe('checkReplication', () => {
  const found = (syncedAt: number, unread = 0) =>
    allLines([checkReplication({ syncedAt, unread }, NOON)])[0] ?? ''

  it('finds no problem in a copy that is at most a minute old', () => {
    const whole = 'ok: Litestream last completed the copy 1 second ago; it has read the whole log'
    assert.equal(found(NOON - 1_000), whole)
    assert.match(found(NOON - 60_000, 100), /^ok: .* 60 seconds ago; 0.1 kB of the log wait$/)
    assert.match(found(NOON + 1), /^ok: .* 0 seconds ago/, 'completed while it was asked')
  })

  it('warns of an older copy, of none, and of a Litestream that does not answer', () => {
    assert.match(found(NOON - 60_001, 2_048), /^warning: .* 60 seconds ago; 2.0 kB .* → the log of/)
    assert.match(found(0), /^warning: Litestream has copied nothing since it started → the log of/)
    const [silent = ''] = allLines([checkReplication({ problem: 'connect ENOENT' }, NOON)])
    const advice = /^warning: Litestream does not answer: connect ENOENT → restart the server/
    assert.match(silent, advice)
  })
})
