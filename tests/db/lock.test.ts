import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { lockDataDir, tryLockDataDir } from '../../../lib/db/lock.ts'
import { tempFolder } from '../../temp-folder.ts'

const folder = tempFolder()

describe('the lock of the data folder', () => {
  it('is had by one at a time', () => {
    const first = lockDataDir(folder)
    assert.equal(tryLockDataDir(folder), null)
    assert.throws(() => lockDataDir(folder), {
      message: `Cannot use the data folder ${folder}: a server runs on it; stop it first`,
    })
    first[Symbol.dispose]()
    lockDataDir(folder)[Symbol.dispose]()
  })

  it('keeps other processes out, and ends with a process that is killed', async () => {
    const script = `import { lockDataDir } from './lib/db/lock.ts'
      globalThis.lock = lockDataDir(${JSON.stringify(folder)}); console.log('locked'); setInterval(() => {}, 1000)`
    const args = ['--import', 'tsx', '--input-type=module', '--eval', script]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    assert.equal(tryLockDataDir(folder), null)
    child.kill('SIGKILL')
    await once(child, 'exit')
    lockDataDir(folder)[Symbol.dispose]()
  })

  it('cannot be had where there is no folder', () => {
    assert.throws(
      () => tryLockDataDir(`${folder}/missing`),
      /Cannot write into the data folder .*: .*directory does not exist/,
    )
  })
})
