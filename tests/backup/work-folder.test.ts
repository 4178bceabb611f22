import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { removeWorkFolders, withWorkFolder } from '../../lib/backup/work-folder.ts'
import { LOADER } from '../support/runtime.ts'
import { tempFolder } from '../support/temp-folder.ts'

describe('a work folder', () => {
  it('stays while it is in use, even if its own process cleans up', async () => {
    const directory = tempFolder()
    await withWorkFolder(directory, async (folder) => {
      await withWorkFolder(directory, async () => {})
      removeWorkFolders(directory)
      assert.ok(existsSync(folder))
    })
    assert.deepEqual(readdirSync(directory), [])
  })

  it('is removed once its process was killed', async () => {
    const directory = tempFolder()
    const script = `import { withWorkFolder } from './lib/backup/work-folder.ts'
      withWorkFolder(${JSON.stringify(directory)}, () => { console.log('made'); return new Promise(() => setInterval(() => {}, 1000)) })`
    const args = [...LOADER, '--input-type=module', '--eval', script]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'exit')
    await once(child.stdout, 'data')
    removeWorkFolders(directory)
    const whileRunning = readdirSync(directory)
    child.kill('SIGKILL')
    await ended
    assert.equal(whileRunning.filter((name) => name.endsWith('-locked')).length, 1)
    removeWorkFolders(directory)
    assert.deepEqual(readdirSync(directory), [])
  })

  it('holds no open file, so that Windows lets a program rename and remove it', async () => {
    await withWorkFolder(tempFolder(), async (folder) => {
      assert.deepEqual(readdirSync(folder), [])
    })
  })

  it('is left alone if its name is not ours', () => {
    const directory = tempFolder()
    for (const name of ['.partial-backup', 'backups']) mkdirSync(join(directory, name))
    writeFileSync(join(directory, 'a.tar.gz'), '')
    removeWorkFolders(directory)
    assert.equal(readdirSync(directory).length, 3)
  })
})
