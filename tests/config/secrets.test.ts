import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { openSecrets } from '../../lib/config/secrets.ts'
import { assertMode, LOADER, ON_POSIX } from '../support/runtime.ts'
import { tempFolder } from '../support/temp-folder.ts'

const parent = tempFolder()
let count = 0

function newFolder(): string {
  const folder = join(parent, String(count++))
  mkdirSync(folder)
  return folder
}

describe('openSecrets', () => {
  it('creates them once, readable only by the owner', () => {
    const folder = newFolder()
    const secrets = openSecrets(folder)
    assert.match(secrets.auth, /^[0-9a-f]{64}$/)
    assert.deepEqual(readdirSync(folder), ['secrets.json'])
    assertMode(join(folder, 'secrets.json'), 0o600)
    assert.deepEqual(openSecrets(folder), secrets)
    assert.notDeepEqual(openSecrets(newFolder()), secrets)
  })

  it('reads a file on Windows, where every mode looks open', (t) => {
    const folder = newFolder()
    const secrets = openSecrets(folder)
    chmodSync(join(folder, 'secrets.json'), 0o666)
    const { getuid } = process
    t.after(() => Object.assign(process, { getuid }))
    Object.assign(process, { getuid: undefined })
    assert.deepEqual(openSecrets(folder), secrets)
  })

  it('refuses a file that other users can read, and says what to do', ON_POSIX, () => {
    const folder = newFolder()
    const { auth } = openSecrets(folder)
    for (const mode of [0o640, 0o604, 0o644, 0o620]) {
      chmodSync(join(folder, 'secrets.json'), mode)
      const isAdvice = ({ message }: Error) => /chmod 600/.test(message) && !message.includes(auth)
      assert.throws(() => openSecrets(folder), isAdvice)
    }
    chmodSync(join(folder, 'secrets.json'), 0o400)
    assert.equal(openSecrets(folder).auth, auth)
  })

  const damages = ['', '{', 'null', '{}', '{"auth":"short"}', `{"auth":"${'a'.repeat(63)}`]
  for (const content of damages) {
    it(`refuses the damaged file "${content.slice(0, 20)}" and keeps it`, () => {
      const path = join(newFolder(), 'secrets.json')
      writeFileSync(path, content, { mode: 0o600 })
      const message = /it is damaged; restore it .* or delete it$/
      assert.throws(() => openSecrets(join(path, '..')), message)
      assert.equal(readFileSync(path, 'utf8'), content)
    })
  }

  it('refuses a path that it cannot read', () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'secrets.json'))
    assert.throws(() => openSecrets(folder), /^Error: Cannot read .*secrets\.json: EISDIR: /)
  })

  it('gives processes that start together the same secrets', async () => {
    const folder = newFolder()
    const script = `
      import { openSecrets } from './lib/config/secrets.ts'
      process.stdout.write(openSecrets(${JSON.stringify(folder)}).auth)`
    const args = [...LOADER, '--input-type=module', '--eval', script]
    const run = () =>
      text(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }).stdout)
    const given = new Set(await Promise.all([run(), run(), run()]))
    assert.deepEqual([...given], [openSecrets(folder).auth])
    assert.deepEqual(readdirSync(folder), ['secrets.json'])
  })
})
