import assert from 'node:assert/strict'
import { chmodSync, globSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { copyFiles, copyPackages } from '../main/release.ts'
import { newDataFolder, type Running, runScript, startServer } from '../support/process.ts'
import { tempFolder } from '../support/temp-folder.ts'

const { dataDir, settings, remove } = newDataFolder()
const OLD = ['server.lock', 'geo/old.mmdb', 'backups/old.tar.gz']

/** Paths in the data folder, and the folder itself, that other users may read, write or list. */
function openPaths(): string[] {
  const paths = ['.', ...globSync('{**/*,.*}', { cwd: dataDir })]
  return paths.filter((path) => (statSync(join(dataDir, path)).mode & 0o077) !== 0)
}

describe('a data folder that was open to everybody, under the umask 000', () => {
  let umask: number
  let server: Running
  before(() => {
    umask = process.umask(0)
    mkdirSync(join(dataDir, 'backups'))
    for (const name of OLD) writeFileSync(join(dataDir, name), '')
    for (const path of ['.', 'geo', 'backups']) chmodSync(join(dataDir, path), 0o755)
    assert.ok(openPaths().length > OLD.length)
  })
  after(async () => {
    process.umask(umask)
    await server.stop('SIGTERM')
    remove()
  })

  it('is private while a server runs, with all files', async () => {
    server = await startServer(settings)
    assert.deepEqual(openPaths(), [])
    for (const name of ['app.db', 'app.db-wal', 'app.db-shm', 'secrets.json']) {
      assert.equal(statSync(join(dataDir, name)).mode & 0o777, 0o600, name)
    }
  })

  it('stays private after commands', async () => {
    const csv = join(dataDir, 'overlay.csv')
    writeFileSync(csv, '10.0.0.0/8,country=DE\n', { mode: 0o600 })
    const commands = [
      ['scripts/key.ts', '--email', 'ada@example.com', '--name', 'first'],
      ['scripts/geo.ts', '--overlay', csv],
      ['scripts/backup.ts'],
      ['scripts/backup.ts', '--out', join(dataDir, 'elsewhere', 'copy.tar.gz')],
      ['scripts/migrate.ts', '--dry-run'],
      ['scripts/contact.ts'],
    ]
    for (const command of commands) {
      const { code, stderr } = await runScript(command, settings)
      assert.equal(code, 0, stderr)
    }
    assert.deepEqual(openPaths(), [])
  })

  it('satisfies npm run doctor', async () => {
    const { stdout } = await runScript(['scripts/doctor.ts'], settings)
    assert.match(stdout, /^ok +Folder +Other users cannot read /m)
  })
})

describe('a command that comes before the first start', () => {
  it('makes a private folder', async () => {
    const umask = process.umask(0)
    const folder = newDataFolder()
    chmodSync(folder.dataDir, 0o777)
    const { code, stderr } = await runScript(['scripts/migrate.ts'], folder.settings)
    process.umask(umask)
    assert.equal(code, 0, stderr)
    for (const name of ['.', 'app.db', 'server.lock']) {
      assert.equal(statSync(join(folder.dataDir, name)).mode & 0o077, 0, name)
    }
    folder.remove()
  })
})

describe('a fresh clone', () => {
  it('starts with the default plans in its data folder, which it makes private', async () => {
    const clone = tempFolder()
    const data = join(clone, 'data')
    const { remove, settings } = newDataFolder()
    const { MERIDIAN_GEO = '' } = settings
    copyFiles(clone)
    copyPackages(clone)
    chmodSync(data, 0o755)
    const server = await startServer({ MERIDIAN_GEO }, clone)
    const response = await fetch(`${server.url}/v1/billing/plans`)
    assert.equal(response.status, 200, await response.text())
    assert.equal(statSync(data).mode & 0o777, 0o700)
    for (const name of ['app.db', 'secrets.json']) {
      assert.equal(statSync(join(data, name)).mode & 0o777, 0o600, name)
    }
    assert.equal((await server.stop('SIGTERM')).code, 0)
    remove()
  })
})
