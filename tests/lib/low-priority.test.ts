import assert from 'node:assert/strict'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { afterEach, describe, it, mock } from 'node:test'
import { runLowPriority } from '../../lib/low-priority.ts'

afterEach(() => {
  mock.restoreAll()
  syncBuiltinESMExports()
})

const run = (script: string) =>
  runLowPriority([process.execPath, '-e', script], new AbortController().signal)

describe('runLowPriority', () => {
  it('runs a program that leaves the processor to others', async () => {
    const isLow = `os.getPriority() === ${os.constants.priority.PRIORITY_LOW}`
    await run(`const end = Date.now() + 5_000
      while (!(${isLow}) && Date.now() < end);
      process.exitCode = ${isLow} ? 0 : 1`)
  })

  it('throws what a program says that ends with an error', async () => {
    await assert.rejects(run('console.error("no room"); process.exitCode = 2'), /^Error: no room$/)
    await assert.rejects(run('process.exitCode = 3'), /ended with the code 3/)
  })

  it('runs it all the same where the system does not let it be put back', async () => {
    mock.method(os, 'setPriority', () => {
      throw new Error('EPERM')
    })
    syncBuiltinESMExports()
    await assert.rejects(run('console.error("done"); process.exitCode = 1'), /^Error: done$/)
  })
})
