import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { startPostgres } from './support/database/postgres-server.ts'

/*
 * `npm run test:postgres` runs the tests that need a PostgreSQL server: `node postgres.ts GLOB`. Then it runs the
 * tests of routes again, on PostgreSQL instead of SQLite, but for files that use a connection of SQLite.
 */

const ROUTES = 'tests/**/*.routes.test.ts'
const LONGEST_MS = 300_000

const own = globSync(process.argv.slice(2)).toSorted()
const routes = globSync(ROUTES)
  .toSorted()
  .filter((file) => !readFileSync(file, 'utf8').includes('$client'))
if (!test(own)) process.exitCode = 1
// The tests lose nothing if the machine does.
await using server = await startPostgres({ fsync: 'off', max_connections: '500' })
if (!test(routes, { MERIDIAN_TEST_DATABASE: server.url })) process.exitCode = 1

function test(files: readonly string[], settings: NodeJS.ProcessEnv = {}): boolean {
  const options = ['--test', '--test-concurrency=2', `--test-timeout=${LONGEST_MS}`]
  const args = ['--import', './jsx.ts', ...options, ...files]
  const env = { ...process.env, ...settings }
  return spawnSync(process.execPath, args, { stdio: 'inherit', env }).status === 0
}
