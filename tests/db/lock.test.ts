import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { lockDataDir } from '../../lib/db/lock.ts'
import { LOADER } from '../support/runtime.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = tempFolder()
const IN_USE = {
  message: `Cannot use the data folder ${folder}: a server is using it; stop the server first`,
}

describe('the lock of the data folder', () => {
  it('is held by one holder at a time', () => {
    const first = lockDataDir(folder)
    assert.throws(() => lockDataDir(folder), IN_USE)
    first[Symbol.dispose]()
    lockDataDir(folder)[Symbol.dispose]()
  })

  it('keeps other processes out and ends when its process is killed', async () => {
    const script = `import { lockDataDir } from './lib/db/lock.ts'
      globalThis.lock = lockDataDir(${JSON.stringify(folder)}); console.log('locked'); setInterval(() => {}, 1000)`
    const args = [...LOADER, '--input-type=module', '--eval', script]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    assert.throws(() => lockDataDir(folder), IN_USE)
    child.kill('SIGKILL')
    await once(child, 'exit')
    lockDataDir(folder)[Symbol.dispose]()
  })

  it('cannot be taken without a folder', () => {
    assert.throws(
      () => lockDataDir(`${folder}/missing`),
      /Cannot write into the data folder .*: .*directory does not exist/,
    )
  })
})
