import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { LOADER } from './support/runtime.ts'

/*
 * Runs the files of fault tests: `node faults.ts GLOB`. Those that only check what is stored and answered
 * mostly wait: two run at a time. Those that measure memory or time, or need the whole machine, run alone.
 */

const ALONE = [
  'tests/contact/contact.faults.ts',
  'tests/billing/slow.faults.ts',
  'tests/db/broken-disk.faults.ts',
  'tests/db/damage.faults.ts',
  'tests/db/storage.faults.ts',
  'tests/geo/atlas/compiler.faults.ts',
  'tests/geo/files/geo-swap.faults.ts',
  'tests/geo/files/memory.faults.ts',
  'tests/http/flood.faults.ts',
  'tests/http/kill/kill.faults.ts',
  'tests/http/slowhttptest.faults.ts',
  'tests/limits/metering.faults.ts',
]
const LONGEST_MS = 600_000

const all = globSync(process.argv.slice(2)).toSorted()
const missing = ALONE.filter((file) => !all.includes(file))
if (missing.length > 0) throw new Error(`There is no ${missing.join(', ')}`)
const others = all.filter((file) => !ALONE.includes(file))
const passed = [test(others, 2), test(ALONE, 1)]
if (passed.includes(false)) process.exitCode = 1

function test(files: readonly string[], atOnce: number): boolean {
  const options = [`--test-concurrency=${atOnce}`, `--test-timeout=${LONGEST_MS}`]
  const args = [...LOADER, '--test', ...options, ...files]
  return spawnSync(process.execPath, args, { stdio: 'inherit' }).status === 0
}
