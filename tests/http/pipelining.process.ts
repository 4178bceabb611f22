import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { privateMemory } from '../support/process.ts'
import { LOADER } from '../support/runtime.ts'
import { sharedServer } from '../support/scene/server.ts'

/* Each connection sends as many requests for a page as fit into 64 KB, without waiting for answers. */

/** A heap of 256 MB on Node.js, Deno and Bun. */
const HEAP = {
  NODE_OPTIONS: '--max-old-space-size=256',
  DENO_V8_FLAGS: '--max-old-space-size=256',
  BUN_JSC_forceRAMSize: String(256 * 1024 * 1024),
}
/** Private memory: the heap, code, and what the kernel has not yet taken. */
const MAX_MEMORY = 400 * 1024 * 1024

const { server } = sharedServer(HEAP)

/** Asks whether the server is ready until `work` ends. Not for its health: a busy disk may delay its write. */
async function askMeanwhile(work: Promise<unknown>) {
  const times: number[] = []
  let most = 0
  let isOver = false
  void work.finally(() => {
    isOver = true
  })
  while (!isOver) {
    const began = performance.now()
    assert.equal((await fetch(`${server.url}/health/ready`)).status, 200)
    times.push(performance.now() - began)
    most = Math.max(most, privateMemory(server))
    await sleep(5)
  }
  times.sort((a, b) => a - b)
  return { count: times.length, p99: times[Math.floor(times.length * 0.99)] ?? 0, most }
}

describe('a flood of requests for pages on twenty connections', () => {
  const modes = { pages: 'read', 'pages-unread': 'do not read' }
  for (const [mode, clients] of Object.entries(modes)) {
    it(`leaves the server answering, if its clients ${clients}`, async (t) => {
      const { port } = new URL(server.url)
      const args = ['tests/http/flood-client.ts', port, '127.0.1.99', '20', mode, '4']
      const flood = promisify(execFile)(process.execPath, [...LOADER, ...args])
      const { count, p99, most } = await askMeanwhile(flood)
      const { opened } = JSON.parse((await flood).stdout)
      assert.ok(opened >= 20)
      const memory = `${Math.round(most / 2 ** 20)} MB`
      t.diagnostic(`${memory}; /health/ready: p99 ${p99.toFixed(1)} ms of ${count}`)
      assert.ok(most < MAX_MEMORY, memory)
    })
  }
})
