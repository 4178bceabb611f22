import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startServer } from '../../support/process.ts'

// run: alone

/* The memory of the first start and of the atlas compiler, with the bundled databases. */

/** What Node.js chooses by itself in a container with 256 MB. */
const HEAP_LIMITS = '--max-old-space-size=128 --max-semi-space-size=1'
/** Leaves the kernel and mapped files a part of 256 MB. */
const START_MB = 235
const COMPILER_MB = 300
const SAMPLE_EVERY_MS = 50

const dataDir = mkdtempSync(join(tmpdir(), 'meridian-memory-'))
after(() => rmSync(dataDir, { recursive: true, force: true }))

function readProcess(pid: string, name: 'environ' | 'cmdline' | 'status'): string {
  return readFileSync(`/proc/${pid}/${name}`, 'utf8')
}

/** Whether the process is a copy of its parent: it is between fork and exec. */
function isCopy(pid: string): boolean {
  const parent = /^PPid:\s*(\d+)/m.exec(readProcess(pid, 'status'))?.[1] ?? ''
  return readProcess(parent, 'cmdline') === readProcess(pid, 'cmdline')
}

/** Private memory of the server, or of its compiler, each with its children, in MB. */
function privateMemory() {
  const found = { server: 0, compiler: 0 }
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const variables = readProcess(pid, 'environ').split('\0')
      if (!variables.includes(`MERIDIAN_DATA_DIR=${dataDir}`) || isCopy(pid)) continue
      const isCompiler = readProcess(pid, 'cmdline').includes('--atlas')
      const kilobytes = /^RssAnon:\s*(\d+)/m.exec(readProcess(pid, 'status'))?.[1] ?? 0
      found[isCompiler ? 'compiler' : 'server'] += Number(kilobytes) / 1024
    } catch {
      // The process has ended.
    }
  }
  return found
}

it('a first start fits into 256 MB, and combining the databases into 300', {
  timeout: 600_000,
}, async (t) => {
  const peaks = { server: 0, compiler: 0 }
  const timer = setInterval(() => {
    const { server, compiler } = privateMemory()
    // While the compiler runs, only it counts: in 256 MB it is not started.
    if (compiler === 0) peaks.server = Math.max(peaks.server, server)
    peaks.compiler = Math.max(peaks.compiler, compiler)
  }, SAMPLE_EVERY_MS)
  try {
    const settings = { MERIDIAN_DATA_DIR: dataDir, MERIDIAN_GEO_ATLAS: '1' }
    const server = await startServer({ ...settings, NODE_OPTIONS: HEAP_LIMITS })
    while (!server.output().includes('databases combined')) await sleep(SAMPLE_EVERY_MS)
    await server.stop('SIGTERM')
  } finally {
    clearInterval(timer)
  }
  t.diagnostic(`Peaks of private memory in MB: ${JSON.stringify(peaks)}`)
  assert.ok(peaks.server > 0 && peaks.server <= START_MB, `server: ${peaks.server} MB`)
  assert.ok(peaks.compiler > 0 && peaks.compiler <= COMPILER_MB, `compiler: ${peaks.compiler} MB`)
})
