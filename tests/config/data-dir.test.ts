import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { makeDataDir } from '../../lib/config/data-dir.ts'
import { openSecrets } from '../../lib/config/secrets.ts'
import { LOADER, mayBecomeNobody, NOBODY, ON_LINUX, ON_POSIX } from '../support/runtime.ts'
import { tempFolder } from '../support/temp-folder.ts'

const IS_WRITABLE =
  /^Error: Cannot use the data folder .*: every user may write into it, as into \/tmp; set MERIDIAN_DATA_DIR to a folder of its own, or make this one yours alone with chown and chmod 700$/
const AS_ROOT = { skip: process.getuid?.() !== 0 && 'only root can give a folder away' }

const modeOf = (path: string) => statSync(path).mode & 0o7777

describe('makeDataDir', ON_POSIX, () => {
  let umask: number
  before(() => {
    umask = process.umask(0)
  })
  after(() => process.umask(umask))

  it('makes a private folder, and this process then makes private files', () => {
    const path = join(tempFolder(), 'one', 'data')
    makeDataDir(path)
    writeFileSync(join(path, 'app.db'), '')
    assert.deepEqual([modeOf(path), modeOf(join(path, 'app.db'))], [0o700, 0o600])
  })

  it('says what to do where no folder can be made', ON_LINUX, () => {
    const message =
      /^Error: Cannot make the data folder \/proc\/nope\/data: ENOENT; set MERIDIAN_DATA_DIR /
    assert.throws(() => makeDataDir('/proc/nope/data'), message)
  })

  it('follows a link to the folder, but none in it', () => {
    const [outside, path] = [tempFolder(), tempFolder()]
    chmodSync(outside, 0o755)
    symlinkSync(outside, join(path, 'geo'))
    symlinkSync(path, join(outside, 'link'))
    chmodSync(path, 0o755)
    makeDataDir(join(outside, 'link'))
    assert.deepEqual([modeOf(path), modeOf(outside)], [0o700, 0o755])
  })

  it('refuses a folder that everybody shares, such as /tmp, without changing it', () => {
    const path = tempFolder()
    chmodSync(path, 0o1777)
    assert.throws(() => makeDataDir(path), IS_WRITABLE)
    assert.equal(modeOf(path), 0o1777)
    makeDataDir(join(path, 'meridian'))
  })

  it('refuses the folder of another user only if every user may write into it', AS_ROOT, () => {
    const path = tempFolder()
    chownSync(path, 1, 1)
    for (const mode of [0o777, 0o707, 0o2777]) {
      chmodSync(path, mode)
      assert.throws(() => makeDataDir(path), IS_WRITABLE)
    }
    // On OpenShift a container runs under any user id, but in group 0, the group of its volumes.
    for (const mode of [0o700, 0o775, 0o2770]) {
      chmodSync(path, mode)
      makeDataDir(path)
      assert.equal(modeOf(path), mode)
    }
  })

  it('does not close a folder that holds the files of others, such as /var/lib, but refuses it', () => {
    const path = tempFolder()
    mkdirSync(join(path, 'dpkg'))
    for (const name of ['.', 'dpkg']) chmodSync(join(path, name), 0o755)
    writeFileSync(join(path, 'app.db'), '')
    const message =
      /^Error: Cannot use the data folder .*: it is open to other users and holds dpkg; set /
    assert.throws(() => makeDataDir(path), message)
    assert.deepEqual([modeOf(path), modeOf(join(path, 'dpkg'))], [0o755, 0o755])
    chmodSync(path, 0o700)
    makeDataDir(path)
    assert.equal(modeOf(join(path, 'dpkg')), 0o755)
  })

  it('closes a folder that is empty, or holds only what Meridian or mkfs made', () => {
    const path = tempFolder()
    const files = ['app.db', 'app.db-wal', 'server.lock', 'backups/mine.tar.gz', 'geo/a.mmdb']
    for (const name of ['geo', 'backups', 'lost+found']) mkdirSync(join(path, name))
    for (const name of files) writeFileSync(join(path, name), '', { mode: 0o644 })
    for (const folder of [path, tempFolder()]) {
      chmodSync(folder, 0o755)
      makeDataDir(folder)
      assert.equal(modeOf(folder), 0o700)
    }
    for (const name of files) assert.equal(modeOf(join(path, name)), 0o600, name)
  })

  it('closes the folder of a fresh clone, and leaves the default plans readable', () => {
    const path = tempFolder()
    const plans = join(path, 'plans.json')
    writeFileSync(plans, '[]')
    chmodSync(plans, 0o644)
    chmodSync(path, 0o755)
    makeDataDir(path)
    assert.deepEqual([modeOf(path), modeOf(plans)], [0o700, 0o644])
  })

  it('does not hide that other users could read the secrets', () => {
    const path = tempFolder()
    writeFileSync(join(path, 'secrets.json'), '{}')
    chmodSync(join(path, 'secrets.json'), 0o644)
    makeDataDir(path)
    assert.throws(() => openSecrets(path), /other users can read it/)
  })

  it('leaves the files of other users alone', AS_ROOT, () => {
    const path = tempFolder()
    mkdirSync(join(path, 'geo'))
    chmodSync(join(path, 'geo'), 0o755)
    chownSync(join(path, 'geo'), 1, 1)
    makeDataDir(path)
    assert.equal(modeOf(join(path, 'geo')), 0o755)
  })
})

describe('becomeOwner', () => {
  it('gives up all rights of root for good', (t) => {
    if (!mayBecomeNobody()) return t.skip('needs root, and a runtime that every user may run')
    const path = tempFolder()
    chownSync(path, NOBODY, 7)
    const script = `import { becomeOwner } from './lib/config/data-dir.ts'
      process.setgroups([0, 8])
      const owner = becomeOwner(${JSON.stringify(path)})
      const ids = [process.getuid(), process.geteuid(), process.getgid(), process.getegid()]
      let back = 'refused'
      try { process.seteuid(0), back = 'root' } catch {}
      console.log(JSON.stringify([owner, ids, process.getgroups(), back]))`
    const args = [...LOADER, '--input-type=module', '--eval', script]
    const printed: unknown = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
    assert.deepEqual(printed, [NOBODY, [NOBODY, NOBODY, 7, 7], [7], 'refused'])
  })
})
