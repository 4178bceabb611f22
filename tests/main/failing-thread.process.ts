import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import { newDataFolder, startServer } from '../support/process.ts'
import { openConnection } from '../support/raw-connection.ts'
import { RUNTIME } from '../support/runtime.ts'
import { tempFolder } from '../support/temp-folder.ts'

const skip = basename(RUNTIME[0]) !== 'node' && 'only Node.js loads a file into each thread'

describe('a thread that fails', { skip, timeout: 60_000 }, () => {
  it('ends the process, which says why', async () => {
    const { dataDir, settings, remove } = newDataFolder()
    const trigger = join(dataDir, 'now')
    const file = join(tempFolder(), 'fail.mjs')
    writeFileSync(
      file,
      `import { existsSync } from 'node:fs'
       import { threadName } from 'node:worker_threads'
       const fail = () => { if (existsSync(${JSON.stringify(trigger)})) throw new Error('a bug') }
       if (threadName === 'writer') setInterval(fail, 10).unref()`,
    )
    const server = await startServer({ ...settings, NODE_OPTIONS: `--import=${file}` })
    const connection = await openConnection(server.url)
    writeFileSync(trigger, '')
    const { code, stderr } = await server.ended
    assert.equal(code, 1)
    assert.match(stderr, /A thread has ended: a bug/)
    await connection.ended
    remove()
  })
})
