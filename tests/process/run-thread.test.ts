import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runThread } from '../../lib/process/run-thread.ts'

function run(code: string): Promise<unknown> {
  const prelude = "import { parentPort, workerData } from 'node:worker_threads';"
  const url = new URL(`data:text/javascript,${encodeURIComponent(prelude + code)}`)
  return runThread(url, { name: 'test', workerData: 6 })
}

describe('a thread with one result', () => {
  it('returns it', async () => {
    assert.equal(await run('parentPort.postMessage(workerData * 7)'), 42)
  })

  it('rejects if it ends without a result', async () => {
    await assert.rejects(
      run('process.exit(3)'),
      /^Error: The thread test ended with 3 and without a/,
    )
  })

  it('rejects with its error', async () => {
    await assert.rejects(run("throw new Error('no such file')"), /no such file/)
  })
})
