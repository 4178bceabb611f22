import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { startPostgres } from './support/database/postgres-server.ts'

/*
 * `npm run test:postgres` runs the tests that need a PostgreSQL server: `node postgres.ts GLOB`. Then it runs the
 * tests of routes again, on PostgreSQL instead of SQLite, but for files that are about
 * SQLite or, with what they import from the tests, use a connection of it.
 */

const ROUTES = 'tests/**/*.routes.test.ts'
/** These choose the database. */
const SUPPORT = /^tests\/support\//
/** The first reads the size of the database file. The second counts turns in which SQLite answers at once. */
const OF_SQLITE = [
  'tests/admin/admin-metrics.routes.test.ts',
  'tests/access/sign-in/password-queue.routes.test.ts',
]
const LONGEST_MS = 300_000

const own = globSync(process.argv.slice(2)).toSorted()
const routes = globSync(ROUTES)
  .toSorted()
  .filter((file) => !OF_SQLITE.includes(file) && !usesSqlite(file))
if (!test(own)) process.exitCode = 1
// The tests lose nothing if the machine does.
await using server = await startPostgres({ fsync: 'off', max_connections: '500' })
if (!test(routes, { MERIDIAN_TEST_DATABASE: server.url })) process.exitCode = 1

function usesSqlite(file: string): boolean {
  const text = readFileSync(file, 'utf8')
  const imported = [...text.matchAll(/from '(\.[^']+)'/g)].map(([, path = '']) =>
    join(dirname(file), path),
  )
  const ofTests = imported.filter((path) => path.startsWith('tests/') && !SUPPORT.test(path))
  return text.includes('$client') || ofTests.some(usesSqlite)
}

function test(files: readonly string[], settings: NodeJS.ProcessEnv = {}): boolean {
  const options = ['--test', '--test-concurrency=2', `--test-timeout=${LONGEST_MS}`]
  const args = ['--import', './jsx.ts', ...options, ...files]
  const env = { ...process.env, ...settings }
  return spawnSync(process.execPath, args, { stdio: 'inherit', env }).status === 0
}
