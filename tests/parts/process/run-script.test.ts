import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, it, mock } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { createRunScript, runLowPriority } from '../../../lib/parts/process/run-script.ts'
import { isRunning } from '../../main/running.ts'
import { ON_LINUX, ON_POSIX } from '../../support/runtime.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const Findings = v.array(v.object({ check: v.string(), state: v.string(), text: v.string() }))

afterEach(() => {
  mock.restoreAll()
  syncBuiltinESMExports()
})

const run = (script: string) =>
  runLowPriority([process.execPath, '-e', script], new AbortController().signal)

/** 0 if the file is not written yet. */
function pidIn(path: string): number {
  return existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0
}

describe('runLowPriority', () => {
  it('runs a program at low priority', async () => {
    const isLow = `os.getPriority() === ${os.constants.priority.PRIORITY_LOW}`
    await run(`const end = performance.now() + 60_000
      while (!(${isLow}) && performance.now() < end);
      process.exitCode = ${isLow} ? 0 : 1`)
  })

  it('returns what the program wrote to stdout', async () => {
    assert.equal(await run('console.log("found")'), 'found\n')
  })

  it('throws what a failing program wrote to stderr', async () => {
    await assert.rejects(run('console.error("no room"); process.exitCode = 2'), /^Error: no room$/)
    await assert.rejects(run('process.exitCode = 3'), /ended with the code 3/)
  })

  it('names the signal that ended a program, or why it did not start', ON_POSIX, async () => {
    await assert.rejects(run('process.kill(process.pid, "SIGKILL")'), /^Error: killed by SIGKILL, /)
    await assert.rejects(run('process.kill(process.pid, "SIGTERM")'), /^Error: killed by SIGTERM$/)
    const missing = runLowPriority(['/nonexistent/program'], new AbortController().signal)
    await assert.rejects(missing, /spawn \/nonexistent\/program ENOENT/)
  })

  it('ends a program at the abort, even if it is frozen', ON_LINUX, async () => {
    const path = join(tempFolder(), 'pid')
    const script = `fs.writeFileSync('${path}', String(process.pid)); process.kill(process.pid, 'SIGSTOP')`
    const stopping = new AbortController()
    const ended = runLowPriority([process.execPath, '-e', script], stopping.signal)
    const isStopped = () => /^State:\tT/m.test(readFileSync(`/proc/${pidIn(path)}/status`, 'utf8'))
    while (pidIn(path) === 0 || !isStopped()) await sleep(10)
    const pid = pidIn(path)
    stopping.abort()
    await assert.rejects(ended, { name: 'AbortError' })
    const late = AbortSignal.timeout(60_000)
    while (isRunning(pid) && !late.aborted) await sleep(10)
    const wasEnded = !isRunning(pid)
    if (!wasEnded) process.kill(pid, 'SIGKILL')
    assert.ok(wasEnded)
  })

  it('runs it at normal priority if the system forbids a change', async () => {
    mock.method(os, 'setPriority', () => {
      throw new Error('EPERM')
    })
    syncBuiltinESMExports()
    await assert.rejects(run('console.error("done"); process.exitCode = 1'), /^Error: done$/)
  })
})

it('a command of the service runs with the settings of this process', async () => {
  // At low priority it would wait until all other tests have ended: the tests above check that.
  mock.method(os, 'setPriority', () => {})
  syncBuiltinESMExports()
  const runScript = createRunScript(new AbortController().signal)
  const found = v.parse(Findings, JSON.parse(await runScript('doctor', '--json')))
  assert.ok(found.some(({ check }) => check === 'Settings'))
  assert.ok(found.every(({ text }) => text !== ''))
  await assert.rejects(runScript('doctor', '--nothing'), /Usage: npm run --silent doctor/)
})
