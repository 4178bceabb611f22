import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { startPostgres } from './support/database/postgres-server.ts'
import { runTogether } from './support/runner/run-together.ts'
import { withRuntimes } from './support/runner/runtimes.ts'
import { isMarked, makesDatabase, testFiles } from './support/runner/test-files.ts'
import { LOADER } from './support/runtime.ts'

/*
 * Runs tests: `node run.ts KIND [--on RUNTIMES] [PATH…]`. A test's kind is the end of its name, such as
 * `.process.ts`; paths and globs choose some of the kind. `--on deno,bun` starts servers and commands on these.
 */

/** How many files run at a time, and how long each may take. The restore drill may go on for hours. */
const KINDS: Readonly<Record<string, { atOnce: number; limitMs?: number }>> = {
  process: { atOnce: 2, limitMs: 600_000 },
  browser: { atOnce: 1 },
  outside: { atOnce: 2 },
  stripe: { atOnce: 1 },
  postgres: { atOnce: 2, limitMs: 300_000 },
}
const RUNTIME_LIMIT_MS = 900_000

const { values, positionals } = parseArgs({
  options: { on: { type: 'string' } },
  allowPositionals: true,
})
// No test asks anything outside this machine.
process.env['MERIDIAN_GEO_DOWNLOAD'] = '0'
const [kind = '', ...chosen] = positionals
const files = testFiles(kind, chosen)
const onBoth = kind === 'postgres' ? testFiles('test', chosen).filter(runsOnBoth) : []
if (files.length + onBoth.length === 0) throw new Error(`No test: ${positionals.join(' ')}`)

if (kind === 'test') await runTogether(files)
else if (values.on === undefined) runApart(files)
else runOnRuntimes(values.on.split(','))
if (onBoth.length > 0) await runOnPostgres(onBoth)

/** Runs each file in a process of its own, and those that need the whole machine one by one at the end. */
function runApart(all: readonly string[]): void {
  const { atOnce, limitMs } = KINDS[kind] ?? { atOnce: 1 }
  const limit = limitMs === undefined ? [] : [`--test-timeout=${limitMs}`]
  const alone = all.filter((file) => isMarked(file, 'alone'))
  const others = all.filter((file) => !alone.includes(file))
  runNode([`--test-concurrency=${atOnce}`, ...limit], others)
  runNode(['--test-concurrency=1', ...limit], alone)
}

function runsOnBoth(file: string): boolean {
  return makesDatabase(file) && !isMarked(file, 'only on SQLite')
}

async function runOnPostgres(tests: readonly string[]): Promise<void> {
  // The tests lose nothing if the machine does.
  await using server = await startPostgres({ fsync: 'off', max_connections: '500' })
  process.env['MERIDIAN_TEST_DATABASE'] = server.url
  await runTogether(tests)
}

function runOnRuntimes(names: readonly string[]): void {
  const tests = files.filter(
    (file) => !isMarked(file, 'alone') && !isMarked(file, 'only on Node.js'),
  )
  const options = ['--test-concurrency=2', '--test-timeout=400000']
  withRuntimes(names, (command) => runNode(options, tests, command))
}

function runNode(options: readonly string[], tests: readonly string[], runtime?: string): void {
  if (tests.length === 0) return
  const { status } = spawnSync(process.execPath, [...LOADER, '--test', ...options, ...tests], {
    stdio: 'inherit',
    ...(runtime !== undefined && {
      env: { ...process.env, TEST_RUNTIME: runtime },
      timeout: RUNTIME_LIMIT_MS,
    }),
  })
  if (status !== 0) process.exitCode = 1
}
