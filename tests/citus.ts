import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { LACKS_CITUS, startCitus } from './support/database/citus.ts'

/*
 * `npm run test:citus` runs the tests that need Citus: `node citus.ts GLOB`. Where it is not installed, they are
 * skipped. Then it runs tests of what reads or writes distributed tables again, on a coordinator and two workers.
 */

const ON_CITUS = [
  'tests/{access,accounts,billing,dashboard,operate,rum,services,usage}/**/*.routes.test.ts',
  'tests/**/*.store.test.ts',
  'tests/postgres/rum/*.test.ts',
  'tests/postgres/uses.test.ts',
]
const OF_SQLITE = ['tests/access/sign-in/password-queue.routes.test.ts']
const NODE = ['--import', './jsx.ts']
const LONGEST_MS = 300_000

const own = globSync(process.argv.slice(2)).toSorted()
if (!run([...NODE, '--test', '--test-concurrency=1', `--test-timeout=${LONGEST_MS}`, ...own])) {
  process.exitCode = 1
}
if (LACKS_CITUS === false) await testAgain()
else process.stdout.write(`Skipped: ${LACKS_CITUS}\n`)

async function testAgain(): Promise<void> {
  // Some tests make a statement fail, with triggers on any table.
  const more = { 'citus.enable_unsafe_triggers': 'on' }
  await using cluster = await startCitus({ fsync: 'off', max_connections: '300', ...more })
  const [coordinator = '', ...workers] = cluster.urls
  const files = globSync(ON_CITUS).filter((file) => !OF_SQLITE.includes(file))
  const settings = { MERIDIAN_TEST_DATABASE: coordinator, MERIDIAN_TEST_WORKERS: workers.join(',') }
  if (!run([...NODE, 'tests/support/run-tests.ts', ...files], settings)) process.exitCode = 1
}

function run(args: readonly string[], settings: NodeJS.ProcessEnv = {}): boolean {
  const env = { ...process.env, ...settings }
  return spawnSync(process.execPath, args, { stdio: 'inherit', env }).status === 0
}
