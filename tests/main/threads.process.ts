import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newDataFolder, startServer } from '../support/process.ts'
import { openConnection } from '../support/raw-connection.ts'
import { IS_PROJECT_NODE, RUNTIME } from '../support/runtime.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** Notes in a file, all the time, which threads have loaded Node's compiler of TypeScript. */
const PROBE = `
import { writeFileSync } from 'node:fs'
import { threadId } from 'node:worker_threads'
setInterval(() => {
  const compiles = process.moduleLoadList.some((name) => name.includes('amaro'))
  writeFileSync(process.env.PROBE_FILE + threadId, String(compiles))
}, 50).unref()`

const THREADS = [0, 1, 2]

/** Waits until each thread has noted it once more. Returns their notes. */
async function readNotes(start: string): Promise<string[]> {
  const files = THREADS.map((thread) => `${start}${thread}`)
  for (const file of files) rmSync(file, { force: true })
  for (;;) {
    const notes = files.map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : ''))
    if (!notes.includes('')) return notes
    await sleep(20)
  }
}

describe('a server that has no compiled code yet', () => {
  it('has it compiled first, so that its threads do not load the compiler', async (t) => {
    if (!IS_PROJECT_NODE) return t.skip('Deno and Bun keep no compiled code')
    const folder = tempFolder()
    const probe = join(folder, 'probe.mjs')
    writeFileSync(probe, PROBE)
    const { settings, remove } = newDataFolder()
    const runs = []
    for (const run of ['first', 'second']) {
      const server = await startServer({
        ...settings,
        NODE_COMPILE_CACHE: folder,
        NODE_OPTIONS: `--import ${probe}`,
        PROBE_FILE: join(folder, run),
      })
      const session = await fetch(`${server.url}/api/auth/get-session`)
      assert.equal(session.status, 200)
      runs.push(await readNotes(join(folder, run)))
      await server.stop('SIGTERM')
    }
    remove()
    // The first thread has compiled what it needs before.
    assert.deepEqual(runs, [
      ['true', 'false', 'false'],
      ['false', 'false', 'false'],
    ])
  })
})

const skip = basename(RUNTIME[0]) !== 'node' && 'only Node.js loads a file into each thread'

describe('a thread that fails', { skip, timeout: 60_000 }, () => {
  const failWith = async (statement: string) => {
    const { dataDir, settings, remove } = newDataFolder()
    const trigger = join(dataDir, 'now')
    const file = join(tempFolder(), 'fail.mjs')
    writeFileSync(
      file,
      `import { existsSync } from 'node:fs'
       import { threadName } from 'node:worker_threads'
       const fail = () => { if (existsSync(${JSON.stringify(trigger)})) { ${statement} } }
       if (threadName === 'writer') setInterval(fail, 10).unref()`,
    )
    const server = await startServer({ ...settings, NODE_OPTIONS: `--import=${file}` })
    const connection = await openConnection(server.url)
    writeFileSync(trigger, '')
    const { code, stderr } = await server.ended
    assert.equal(code, 1)
    await connection.ended
    remove()
    return stderr
  }

  it('ends the process, which says why', async () => {
    assert.match(await failWith("throw new Error('a bug')"), /^A thread has ended: a bug$/m)
  })

  it('is said to lack memory if it gives no reason', async () => {
    const stderr = await failWith("throw new Error('')")
    assert.match(stderr, /^A thread has ended: it gave no reason: perhaps it ran out of memory$/m)
  })
})
