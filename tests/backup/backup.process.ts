import assert from 'node:assert/strict'
import { chmodSync, copyFileSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { backupName } from '../../lib/backup/backup-folder.ts'
import { lockDataDir } from '../../lib/db/lock.ts'
import { makeOldDatabase, withClient } from '../support/data-folder.ts'
import { makeGeoFolder } from '../support/geo-files.ts'
import { newDataFolder, type Running, runScript, startServer } from '../support/process.ts'

const { dataDir, settings, remove } = newDataFolder()
after(remove)

const SIGN_UP = { MERIDIAN_SIGN_UP: 'closed' }

const IN_USE = /^Cannot use the data folder .*: a server is using it; stop the server first\n$/

describe('the commands of operators, while a server runs', () => {
  let server: Running
  let key: string
  let archive: string
  before(async () => {
    chmodSync(dataDir, 0o700)
    server = await startServer(settings)
    const args = [
      'scripts/key.ts',
      '--email',
      'ada@example.com',
      '--name',
      'first',
      '--scopes',
      'all',
    ]
    key = (await runScript(args, settings)).stdout.trim()
  })
  after(() => server.stop('SIGTERM'))

  it('back up to a file that only its owner may read', async () => {
    const { code, stdout, stderr } = await runScript(['scripts/backup.ts'], settings)
    assert.deepEqual([code, stderr], [0, ''])
    archive = stdout.trim()
    assert.match(archive, /\/backups\/meridian-\d{4}-\d\d-\d\dT\d{6}Z\.tar\.gz$/)
    assert.equal(statSync(archive).mode & 0o777, 0o600)
  })

  it('keep the given number of backups', async () => {
    copyFileSync(archive, join(dataDir, 'backups', 'meridian-2020-01-31T120000Z.tar.gz'))
    const others = join(dataDir, 'backups', 'other.tar.gz')
    const made = await runScript(['scripts/backup.ts', '--out', others], settings)
    assert.deepEqual([made.code, made.stdout], [0, `${others}\n`])
    // The names of archives contain the time in seconds.
    while (basename(archive) === backupName(Date.now())) await setTimeout(20)
    const { stdout, stderr } = await runScript(['scripts/backup.ts', '--keep', '1'], settings)
    assert.match(stderr, /^Removed .*\nRemoved .*2020-01-31T120000Z\.tar\.gz\n$/)
    archive = stdout.trim()
    const left = readdirSync(join(dataDir, 'backups')).map((name) => join(dataDir, 'backups', name))
    assert.deepEqual(left.toSorted(), [archive, others].toSorted())
  })

  it('do not restore into the folder of that server', async () => {
    const args = ['scripts/restore.ts', archive, '--overwrite']
    const { code, stderr } = await runScript(args, settings)
    assert.equal(code, 1)
    assert.match(stderr, IN_USE)
    assert.equal((await fetch(`${server.url}/health/ready`)).status, 200)
  })

  it('restore into another folder, which another server can use', async () => {
    const elsewhere = { ...settings, MERIDIAN_DATA_DIR: join(dataDir, 'elsewhere') }
    makeGeoFolder(elsewhere.MERIDIAN_DATA_DIR)
    const { code, stderr } = await runScript(['scripts/restore.ts', archive], elsewhere)
    assert.equal(code, 0, stderr)
    assert.match(stderr, /^Restored .*\nDatabases that were served, .*: City of 2026-01-13, ASN of/)
    const other = await startServer(elsewhere)
    const answer = await fetch(`${other.url}/v1/account/me`, { headers: { 'x-api-key': key } })
    await other.stop('SIGTERM')
    assert.equal(answer.status, 200)
  })

  it('do not start a second server in the same folder', async () => {
    const { code, stderr } = await runScript(['server.ts'], { ...settings, PORT: '0' })
    assert.equal(code, 1)
    assert.match(stderr, IN_USE)
  })

  it('do not migrate the database of that server, but show which migrations are pending', async () => {
    const refused = await runScript(['scripts/migrate.ts'], settings)
    assert.deepEqual([refused.code, refused.stdout], [1, ''])
    const upToDate = await runScript(['scripts/migrate.ts', '--dry-run'], settings)
    assert.deepEqual([upToDate.code, upToDate.stdout], [0, ''])
    assert.equal(upToDate.stderr, 'The database is up to date\n')
  })

  it('find no problems (npm run doctor)', async () => {
    const { code, stdout } = await runScript(['scripts/doctor.ts'], { ...settings, ...SIGN_UP })
    assert.equal(code, 0, stdout)
    for (const name of ['Settings', 'Folder', 'Clock', 'Database', 'Backups']) {
      assert.match(stdout, new RegExp(`^ok +${name} `, 'm'))
    }
  })
})

describe('npm run doctor', () => {
  it('exits with 1 if something is wrong, and gives advice', async () => {
    const folder = newDataFolder()
    chmodSync(folder.dataDir, 0o755)
    const { code, stdout } = await runScript(['scripts/doctor.ts'], folder.settings)
    folder.remove()
    assert.equal(code, 1)
    assert.match(stdout, /^wrong +Folder +Other users can read .*\n +→ chmod 700 /m)
  })

  it('names every bad variable', async () => {
    const { code, stderr } = await runScript(['scripts/doctor.ts'], { PORT: 'x' })
    assert.equal(code, 1)
    assert.match(stderr, /^Cannot read the configuration: PORT must be/)
  })
})

describe('npm run migrate', () => {
  const folder = newDataFolder()
  after(folder.remove)
  const database = join(folder.dataDir, 'app.db')
  const migrate = (...args: string[]) => runScript(['scripts/migrate.ts', ...args], folder.settings)

  it('has nothing to do before there is a database', async () => {
    const { code, stderr } = await migrate('--dry-run')
    assert.equal(code, 1)
    assert.match(stderr, /^There is no database .*: the first start creates it\n$/)
    assert.equal(existsSync(database), false)
  })

  it('creates the database', async () => {
    assert.match((await migrate()).stderr, /^Created the database /)
  })

  it('tries pending migrations on a copy, then applies them', async () => {
    rmSync(database)
    makeOldDatabase(database, 3)
    const tried = await migrate('--dry-run')
    assert.equal(tried.code, 0, tried.stderr)
    assert.match(tried.stdout, /^0004-rum\.sql\n/)
    assert.match(tried.stderr, /^\d+ to apply; they work on a copy of the database\n$/)
    assert.equal((await migrate('--dry-run')).stdout, tried.stdout, 'nothing was applied')
    assert.match((await migrate()).stderr, /^Applied 0004-rum\.sql/)
    assert.match((await migrate()).stderr, /^The database is up to date\n$/)
  })

  it('is not done by other commands while a server of an older release runs', async () => {
    rmSync(database, { force: true })
    makeOldDatabase(database, 3)
    const list = () => runScript(['scripts/contact.ts'], folder.settings)
    {
      using _lock = lockDataDir(folder.dataDir)
      assert.match((await list()).stderr, /^Cannot use the data folder .*: a server is using it/)
    }
    assert.match((await migrate('--dry-run')).stdout, /^0004-rum\.sql\n/, 'nothing was applied')
    assert.equal((await list()).code, 0)
  })

  it('shows where a migration would fail, and changes nothing', async () => {
    withClient(database, (client) => client.pragma('user_version = 3'))
    const { code, stderr } = await migrate('--dry-run')
    assert.equal(code, 1)
    assert.match(stderr, /^Cannot open the database .*: table rum_journal already exists\n$/)
    const partial = readdirSync(folder.dataDir).filter((name) => name.startsWith('.partial'))
    assert.deepEqual(partial, [])
  })
})
