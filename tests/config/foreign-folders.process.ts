import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { newDataFolder, type Settings } from '../support/process.ts'
import { mayBecomeNobody, NOBODY, RUNTIME } from '../support/runtime.ts'
import { tempFolder } from '../support/temp-folder.ts'

/* Folders that belong to another user, and files where folders must be. */

/** Runs a script that fails, as root or as a user with few rights, and returns what it prints. */
function failure(script: string, settings: Settings, uid = 0): string {
  const [program, ...options] = RUNTIME
  const { PATH = '' } = process.env
  const env = { PATH, PORT: '0', TSX_DISABLE_CACHE: '1', ...settings }
  const id = uid === 0 ? {} : { uid, gid: uid }
  const args = [...options, ...script.split(' ')]
  const { status, stderr } = spawnSync(program, args, { env, encoding: 'utf8', ...id })
  assert.equal(status, 1, stderr)
  return stderr
}

describe('a file where a folder must be', () => {
  it('is named with advice by a start and by a command', () => {
    const { dataDir, settings, remove } = newDataFolder()
    const file = join(dataDir, 'file')
    writeFileSync(file, '')
    const advice = `; ${file} must be a folder: move the file with that name away\n`
    const data = failure('server.ts', { ...settings, MERIDIAN_DATA_DIR: file })
    assert.ok(data.startsWith(`Cannot write ${file}: EEXIST: `) && data.endsWith(advice), data)
    const inFile = failure('scripts/migrate.ts', { MERIDIAN_DATA_DIR: join(file, 'data') })
    assert.ok(inFile.endsWith(advice), inFile)
    remove()
  })
})

const skip = !mayBecomeNobody() && 'needs root, and a runtime that every user may run'

describe('what belongs to another user', { skip }, () => {
  for (const [name, script, message] of [
    [
      'geo',
      'server.ts',
      /^Cannot write .*geo\/\S+: EACCES: .*; this user cannot write into .*geo /m,
    ],
    [
      'geo',
      'scripts/geo.ts',
      /^Cannot write .*geo\/\S+: EACCES: .*; this user cannot write into /m,
    ],
    [
      'backups',
      'scripts/backup.ts',
      /^Cannot write .*backups\/.*; this user cannot write into .* /m,
    ],
    ['.', 'server.ts', /^Cannot write into the data folder .*; this user cannot write into .*/],
  ] as const) {
    it(`is named with advice by ${script}: ${name}`, () => {
      const dataDir = tempFolder()
      chownSync(dataDir, NOBODY, NOBODY)
      for (const file of name === 'backups' ? ['app.db', 'secrets.json'] : []) {
        writeFileSync(join(dataDir, file), '')
        chownSync(join(dataDir, file), NOBODY, NOBODY)
      }
      const foreign = join(dataDir, name)
      mkdirSync(foreign, { recursive: true })
      chownSync(foreign, 0, 0)
      // A data folder with mode 700 gets another message.
      chmodSync(foreign, name === '.' ? 0o755 : 0o700)
      const text = failure(script, { MERIDIAN_DATA_DIR: dataDir }, NOBODY)
      assert.match(text, message)
      assert.match(text, /\(EACCES\): create it or change its owner\n$/)
    })
  }

  for (const script of ['server.ts', 'scripts/user.ts --list']) {
    it(`is named by ${script} if it may not open the data folder`, () => {
      const text = failure(script, { MERIDIAN_DATA_DIR: tempFolder() }, NOBODY)
      assert.match(
        text,
        /^Cannot use the data folder \S+: this user may not open it; set MERIDIAN_/,
      )
    })
  }

  it('is named by scripts/backup.ts if it may not read it', () => {
    const dataDir = tempFolder()
    const text = failure('scripts/backup.ts', { MERIDIAN_DATA_DIR: dataDir }, NOBODY)
    assert.match(
      text,
      // Deno words EACCES differently.
      /^Cannot read app\.db in .*: (EACCES|Permission denied).*; run this as the user of the server$/m,
    )
  })
})
