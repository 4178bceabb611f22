import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createBackup } from '../../../lib/backup/create-backup.ts'
import { makeSecrets, openSecrets, writeSecrets } from '../../../lib/config/secrets.ts'
import { lockDataDir, tryLockDataDir } from '../../../lib/db/lock.ts'
import { type Source, withSource } from '../../../lib/storage/move/source.ts'
import { writeTarget } from '../../../lib/storage/move/target.ts'
import { makeDraft } from '../../rum/postgres/telemetry.ts'
import {
  emailsIn,
  makeDataFolder,
  makeOldDatabase,
  putEmptyDatabase,
  withClient,
} from '../../support/data-folder.ts'
import { NOON } from '../../support/helpers.ts'
import { assertMode } from '../../support/runtime.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()
const newFolder = () => mkdtempSync(join(folder, 'folder-'))
const now = () => NOON

function readSource(path: string | undefined, dataDir = newFolder()) {
  return withSource({ path, dataDir, now }, async ({ file, secrets }) => ({
    emails: emailsIn(file),
    secrets,
  }))
}

describe('the source of an import', () => {
  it('is the data folder, a file, its folder or a backup', async () => {
    const { dataDir, database, secrets } = await makeDataFolder(folder)
    const wanted = { emails: ['ada@example.com'], secrets }
    const archive = join(newFolder(), 'ada.tar.gz')
    await createBackup({ dataDir, path: archive, now: NOON, geo: [] })
    assert.deepEqual(await readSource(undefined, dataDir), wanted)
    for (const path of [database, dataDir, archive]) {
      assert.deepEqual(await readSource(path), wanted, path)
    }
  })

  it('leaves nothing of a backup behind', async () => {
    const { dataDir } = await makeDataFolder(folder)
    const archive = join(newFolder(), 'ada.tar.gz')
    await createBackup({ dataDir, path: archive, now: NOON, geo: [] })
    const empty = newFolder()
    await readSource(archive, empty)
    assert.deepEqual(readdirSync(empty), [])
  })

  it('cannot be used by a server, before or meanwhile', async () => {
    const { dataDir } = await makeDataFolder(folder)
    await withSource({ path: dataDir, dataDir, now }, async () => {
      await nextTurn()
      assert.equal(tryLockDataDir(dataDir), null)
    })
    using _lock = lockDataDir(dataDir)
    await assert.rejects(readSource(dataDir), /a server is using it; stop the server first/)
  })

  it('is brought up to date, with all beacons of the journal summed up', async () => {
    const { dataDir, database } = await makeDataFolder(folder)
    withClient(database, (client) => {
      const insert = client.prepare('INSERT INTO rum_journal VALUES (?, ?, ?, ?, ?)')
      for (let id = 1; id <= 7; id++) {
        const { receivedAt, country, beacon } = makeDraft(id)
        insert.run('a', id, receivedAt, country, JSON.stringify(beacon))
      }
    })
    const count = ({ file }: Source) =>
      withClient(file, (client) => [
        client.prepare('SELECT count(*) FROM rum_journal').pluck().get(),
        client.prepare(`SELECT sum(count) FROM rum_counts WHERE label = 'accepted'`).pluck().get(),
      ])
    const counted = await withSource({ path: dataDir, dataDir, now }, async (source) =>
      count(source),
    )
    assert.deepEqual(counted, [0, 7])

    rmSync(database)
    makeOldDatabase(database, 20)
    assert.deepEqual((await readSource(dataDir)).emails, [])
  })

  it('must be complete', async () => {
    const empty = newFolder()
    await assert.rejects(readSource(undefined, empty), /^Error: There is no app\.db in /)
    await assert.rejects(readSource(join(empty, 'app.db')), /^Error: There is no .*app\.db$/)
    putEmptyDatabase(join(empty, 'app.db'))
    await assert.rejects(readSource(empty), /no secrets\.json beside .*: without it, all sessions/)
    const broken = join(empty, 'broken.tar.gz')
    writeFileSync(broken, 'no archive')
    await assert.rejects(readSource(broken), /Cannot use the backup .*broken\.tar\.gz/)
  })
})

describe('the target of an export', () => {
  const secrets = makeSecrets()
  const write = (path: string) =>
    writeTarget(path, async (file) => {
      putEmptyDatabase(file)
      return secrets
    })

  it('is a file with its secrets, which only the owner can read', async () => {
    const directory = join(newFolder(), 'new', 'data')
    const path = join(directory, 'app.db')
    await write(path)
    assert.deepEqual(emailsIn(path), [])
    assert.deepEqual(openSecrets(directory), secrets)
    assertMode(path, 0o600)
    const hidden = readdirSync(directory).filter((name) => name.startsWith('.'))
    assert.deepEqual(hidden, [])
  })

  it('is made anew after an interruption', async () => {
    const directory = newFolder()
    const partial = join(directory, '.partial-backup-killed-locked')
    mkdirSync(partial)
    writeFileSync(join(partial, 'app.db'), 'half')
    writeSecrets(directory, secrets)
    await write(join(directory, 'app.db'))
    assert.deepEqual(readdirSync(directory).toSorted(), ['app.db', 'secrets.json', 'server.lock'])
  })

  it('does not exist after a failure', async () => {
    const path = join(newFolder(), 'app.db')
    const failing = writeTarget(path, async (file) => {
      writeFileSync(file, 'half')
      throw new Error('the connection broke')
    })
    await assert.rejects(failing, /the connection broke/)
    await write(path)
  })

  it('replaces neither a database nor other secrets', async () => {
    const { dataDir, database } = await makeDataFolder(folder)
    await assert.rejects(write(database), /^Error: The file .* already exists$/)
    await assert.rejects(write(join(dataDir, 'other.db')), /has other secrets than the database/)
    assert.deepEqual(emailsIn(database), ['ada@example.com'])
  })

  it('is not in the folder of a running server', async () => {
    const directory = newFolder()
    using _lock = lockDataDir(directory)
    await assert.rejects(write(join(directory, 'app.db')), /a server is using it/)
  })
})
