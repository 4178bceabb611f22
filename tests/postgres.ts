import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { startPostgres } from './support/database/postgres-server.ts'
import { LOADER } from './support/runtime.ts'

/*
 * `npm run test:postgres` runs the tests that need a PostgreSQL server: `node postgres.ts GLOB`. Then it runs the
 * tests of routes and stores again, on PostgreSQL instead of SQLite.
 */

const ON_BOTH = ['tests/**/*.routes.test.ts', 'tests/**/*.store.test.ts']
/** Why these do not run on PostgreSQL. Single tests of other files name their reason themselves. */
const OF_SQLITE: Readonly<Record<string, string>> = {
  'tests/admin/admin-metrics.routes.test.ts': 'reads the size of the database file',
  'tests/access/sign-in/password-queue.routes.test.ts':
    'counts turns in which SQLite answers at once',
}
const LONGEST_MS = 300_000

const own = globSync(process.argv.slice(2)).toSorted()
if (!run([...LOADER, '--test', '--test-concurrency=2', `--test-timeout=${LONGEST_MS}`, ...own])) {
  process.exitCode = 1
}
// The tests lose nothing if the machine does.
await using server = await startPostgres({ fsync: 'off', max_connections: '500' })
const onBoth = globSync(ON_BOTH).filter((file) => OF_SQLITE[file] === undefined)
const settings = { MERIDIAN_TEST_DATABASE: server.url }
if (!run([...LOADER, 'tests/support/run-tests.ts', ...onBoth], settings)) process.exitCode = 1

function run(args: readonly string[], settings: NodeJS.ProcessEnv = {}): boolean {
  const env = { ...process.env, ...settings }
  return spawnSync(process.execPath, args, { stdio: 'inherit', env }).status === 0
}
