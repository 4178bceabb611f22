import assert from 'node:assert/strict'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { afterEach, it, mock } from 'node:test'
import * as v from 'valibot'
import { createRunScript } from '../../../lib/parts/process/run-script.ts'

const Findings = v.array(v.object({ check: v.string(), state: v.string(), text: v.string() }))

afterEach(() => {
  mock.restoreAll()
  syncBuiltinESMExports()
})

it('a command of the service runs with the settings of this process', async () => {
  // At low priority it would wait until all other tests have ended: low-priority.test.ts checks that.
  mock.method(os, 'setPriority', () => {})
  syncBuiltinESMExports()
  const runScript = createRunScript(new AbortController().signal)
  const found = v.parse(Findings, JSON.parse(await runScript('doctor', '--json')))
  assert.ok(found.some(({ check }) => check === 'Settings'))
  assert.ok(found.every(({ text }) => text !== ''))
  await assert.rejects(runScript('doctor', '--nothing'), /Usage: npm run --silent doctor/)
})
