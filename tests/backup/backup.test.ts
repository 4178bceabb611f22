import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import fc from 'fast-check'
import { create, list } from 'tar'
import { describeFile, packBackup, unpackBackup } from '../../lib/backup/archive.ts'
import { createBackup } from '../../lib/backup/create-backup.ts'
import { type Manifest, SECRETS } from '../../lib/backup/manifest.ts'
import { restoreBackup } from '../../lib/backup/restore-backup.ts'
import { openSecrets } from '../../lib/config/secrets.ts'
import { lockDataDir } from '../../lib/db/lock.ts'
import { openDb } from '../../lib/db/open.ts'
import { type DataFolder, emailsIn, makeDataFolder, withClient } from '../support/data-folder.ts'
import { NOON } from '../support/helpers.ts'
import { assertMode, ON_POSIX } from '../support/runtime.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = tempFolder()
const GEO = [{ name: 'GeoLite2-City', bytes: 7, builtAt: '2026-01-13T00:00:00.000Z' }]

let ada: DataFolder
let archive: string
let manifest: Manifest
before(async () => {
  ada = await makeDataFolder(folder)
  archive = join(folder, 'backups', 'ada.tar.gz')
  manifest = await createBackup({ dataDir: ada.dataDir, path: archive, now: NOON, geo: GEO })
})

let folders = 0
function newFolder(): string {
  const path = join(folder, `new-${folders++}`)
  mkdirSync(path)
  return path
}

const restore = (dataDir: string, from = archive, overwrite = false) =>
  restoreBackup({ archive: from, dataDir, overwrite, now: NOON })

describe('a backup', () => {
  it('restores the database and the secrets', async () => {
    const dataDir = join(newFolder(), 'data')
    const restored = await restore(dataDir)
    assert.deepEqual(emailsIn(join(dataDir, 'app.db')), ['ada@example.com'])
    assert.deepEqual(openSecrets(dataDir), ada.secrets)
    assert.deepEqual(restored, { manifest, aside: undefined, pending: [] })
    assertMode(dataDir, 0o700)
    for (const name of ['app.db', 'secrets.json']) {
      assertMode(join(dataDir, name), 0o600)
    }
  })

  it('describes its files and the databases that were served', () => {
    assert.equal(manifest.createdAt, new Date(NOON).toISOString())
    const names = manifest.files.map(({ name }) => name)
    assert.deepEqual(names, ['app.db', 'secrets.json'])
    assert.deepEqual(manifest.geo, GEO)
  })

  it('can be read only by its owner, and leaves no other file', () => {
    assertMode(archive, 0o600)
    assert.deepEqual(readdirSync(join(folder, 'backups')), ['ada.tar.gz'])
  })

  it('holds files that only their owner may read, whatever unpacks them', async () => {
    const modes = new Map<string, number>()
    await list({
      file: archive,
      onReadEntry: ({ path, mode = 0 }) => modes.set(path, mode & 0o777),
    })
    assert.deepEqual(new Set(modes.values()), new Set([ON_POSIX ? 0o600 : 0o644]))
    assert.equal(modes.size, 3)
  })

  it('includes rows that are still in the write-ahead log of another connection', async () => {
    const { dataDir, database } = await makeDataFolder(folder, 'bob@example.com')
    const { $client } = openDb(database)
    $client.exec("UPDATE users SET email = 'carol@example.com'")
    const path = join(folder, 'open.tar.gz')
    await createBackup({ dataDir, path, now: NOON, geo: [] })
    $client.close()
    const target = newFolder()
    await restore(target, path)
    assert.deepEqual(emailsIn(join(target, 'app.db')), ['carol@example.com'])
  })

  it('has no answers to requests, which contain keys', async () => {
    const { dataDir, database } = await makeDataFolder(folder, 'dora@example.com')
    const answer = 'ab'.repeat(2000)
    withClient(database, (client) =>
      client.exec(
        `INSERT INTO kept_answers VALUES ('1', NULL, NULL, '', '', '${answer}', 0, NULL)`,
      ),
    )
    const path = join(folder, 'answers.tar.gz')
    await createBackup({ dataDir, path, now: NOON, geo: [] })
    const target = newFolder()
    await restore(target, path)
    assert.ok(!readFileSync(join(target, 'app.db')).includes('abab'))
  })

  it('refuses a name that is taken', async () => {
    const again = createBackup({ dataDir: ada.dataDir, path: archive, now: NOON, geo: [] })
    await assert.rejects(again, { message: `The file ${archive} already exists` })
  })

  it('needs a database', async () => {
    const dataDir = newFolder()
    const path = join(folder, 'none.tar.gz')
    const message = `There is no app.db in ${dataDir}: the server creates it on its first start`
    await assert.rejects(createBackup({ dataDir, path, now: NOON, geo: [] }), { message })
    assert.equal(existsSync(path), false)
  })

  it('is not made from a damaged database', async () => {
    const { dataDir, database } = await makeDataFolder(folder)
    damage(database)
    const path = join(folder, 'damaged.tar.gz')
    await assert.rejects(createBackup({ dataDir, path, now: NOON, geo: [] }), /malformed|damaged/)
    assert.equal(existsSync(path), false)
  })
})

describe('restoring', () => {
  it('refuses a folder that holds data', async () => {
    const { dataDir, database } = await makeDataFolder(folder, 'bob@example.com')
    await assert.rejects(restore(dataDir), /holds app\.db, .*secrets\.json: set MERIDIAN_DATA_DIR/)
    assert.deepEqual(emailsIn(database), ['bob@example.com'])
  })

  it('moves existing data aside with the option overwrite', async () => {
    const { dataDir, database } = await makeDataFolder(folder, 'bob@example.com')
    const { $client } = openDb(database)
    $client.exec("UPDATE users SET email = 'carol@example.com'")
    cpSync(`${database}-wal`, join(dataDir, 'wal'))
    $client.close()
    renameSync(join(dataDir, 'wal'), `${database}-wal`)
    mkdirSync(join(dataDir, '.app.db-litestream'))
    const { aside = '' } = await restore(dataDir, archive, true)
    assert.deepEqual(emailsIn(database), ['ada@example.com'])
    const moved = ['.app.db-litestream', 'app.db', 'app.db-wal', 'secrets.json']
    assert.deepEqual(readdirSync(aside).toSorted(), moved)
    assert.deepEqual(emailsIn(join(aside, 'app.db')), ['carol@example.com'])
    assert.equal(existsSync(`${database}-wal`), false)
    assertMode(aside, 0o700)
  })

  it('is refused while a server uses the folder', async () => {
    const dataDir = newFolder()
    using _lock = lockDataDir(dataDir)
    const restoring = restore(dataDir, archive, true)
    await assert.rejects(restoring, /a server is using it; stop the server first/)
    assert.deepEqual(readdirSync(dataDir), ['server.lock'])
  })

  it('returns the migrations that the next start will apply', async () => {
    const dataDir = newFolder()
    const path = await repack(setVersion(3))
    assert.equal((await restore(dataDir, path)).pending[0], '0004-rum.sql')
  })

  it('refuses a database of a newer version, and leaves nothing behind', async () => {
    const path = await repack(setVersion(99))
    await refuses(path, /its schema version is 99, this release knows \d+; use a newer release$/)
  })

  it('refuses a database that SQLite finds damaged', async () => {
    await refuses(await repack(damage), /: its database is damaged: |malformed/)
  })

  it('refuses rows without their parent row', async () => {
    const path = await repack((database) =>
      withClient(database, (client) => {
        client.pragma('foreign_keys = OFF')
        client.exec("INSERT INTO sites (id, user_id, name, created_at) VALUES ('a', 'b', 'c', 1)")
      }),
    )
    await refuses(path, /a row of sites refers to a missing row of users$/)
  })

  it('refuses files that do not match the manifest', async () => {
    const inside = await unpacked()
    writeFileSync(join(inside, SECRETS), `${JSON.stringify({ auth: '00'.repeat(32) })}\n`)
    const path = join(folder, `changed-${folders}.tar.gz`)
    await packBackup(inside, path)
    await refuses(path, /: secrets\.json does not match the manifest$/)
  })

  it('refuses a manifest of another format', async () => {
    const path = await repack(() => {}, { format: 'meridian-backup-2' })
    await refuses(path, /: its manifest\.json is damaged or from a newer version$/)
  })

  it('refuses a file that is not an archive', async () => {
    const path = join(folder, 'text.tar.gz')
    writeFileSync(path, 'this is a text\n'.repeat(100))
    await refuses(path, /: it is damaged, truncated or not an archive$/)
    await refuses(join(folder, 'missing.tar.gz'), /ENOENT/)
    await refuses(folder, /: EISDIR|: it is damaged/)
  })

  it('refuses other archives, and writes none of their files', ON_POSIX, async () => {
    const inside = newFolder()
    symlinkSync('/etc', join(inside, 'app.db'))
    writeFileSync(join(inside, 'secrets.json'), '')
    writeFileSync(join(inside, 'manifest.json'), '')
    const path = join(folder, 'links.tar.gz')
    await create({ file: path, cwd: inside, gzip: true }, readdirSync(inside))
    await refuses(path, /: it is not a backup of Meridian: it holds app\.db \(SymbolicLink\)/)
    writeFileSync(join(inside, 'more'), '')
    await create({ file: path, cwd: inside, gzip: true }, ['more', 'secrets.json'])
    await refuses(path, /: it holds more, secrets\.json$/)
  })

  it('refuses a truncated backup, wherever it is cut', async () => {
    const bytes = readFileSync(archive)
    const path = join(folder, 'cut.tar.gz')
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: bytes.length - 1 }), async (length) => {
        writeFileSync(path, bytes.subarray(0, length))
        await assert.rejects(unpackBackup(path, newFolder()), /^Error: Cannot use the backup/)
      }),
      { numRuns: 30 },
    )
  })

  it('refuses a backup with a changed byte, unless the contents are the same', async () => {
    const bytes = readFileSync(archive)
    const path = join(folder, 'flipped.tar.gz')
    const change = fc.tuple(
      fc.integer({ min: 0, max: bytes.length - 1 }),
      fc.integer({ min: 1, max: 255 }),
    )
    await fc.assert(
      fc.asyncProperty(change, async ([at, mask]) => {
        const changed = Buffer.from(bytes)
        changed.writeUInt8(changed.readUInt8(at) ^ mask, at)
        writeFileSync(path, changed)
        const result = await unpackBackup(path, newFolder()).catch((error) => error)
        if (result instanceof Error) assert.match(result.message, /^Cannot use the backup/)
        else assert.deepEqual(result, manifest)
      }),
      { numRuns: 60 },
    )
  })
})

async function refuses(path: string, message: RegExp): Promise<void> {
  const dataDir = newFolder()
  await assert.rejects(restore(dataDir, path), { message })
  assert.deepEqual(readdirSync(dataDir), ['server.lock'])
}

async function unpacked(): Promise<string> {
  const inside = newFolder()
  await unpackBackup(archive, inside)
  return inside
}

/** The backup with another database and a matching manifest. */
async function repack(change: (database: string) => void, extra: object = {}): Promise<string> {
  const inside = await unpacked()
  const database = join(inside, 'app.db')
  change(database)
  const path = join(folder, `repacked-${folders++}.tar.gz`)
  const files = [await describeFile(inside, 'app.db'), await describeFile(inside, SECRETS)]
  writeFileSync(join(inside, 'manifest.json'), JSON.stringify({ ...manifest, files, ...extra }))
  await packBackup(inside, path)
  return path
}

const setVersion = (version: number) => (database: string) =>
  withClient(database, (client) => client.pragma(`user_version = ${version}`))

/** Overwrites the first half, save its first page. */
function damage(database: string): void {
  const bytes = readFileSync(database)
  const page = 4096 * Math.floor(bytes.length / 4096 / 2)
  bytes.fill(0x5a, 4096, page)
  writeFileSync(database, bytes)
}
