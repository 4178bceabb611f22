import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LOADER } from './support/runtime.ts'

/*
 * `npm run test:runtimes` runs the end-to-end tests against a server and commands on other runtimes,
 * which npm installs into a temporary folder. The tests themselves run on the Node.js of the project.
 * Names after `--` select runtimes.
 */

/** npm packages, each with the options that make it run TypeScript. */
const RUNTIMES = [
  { name: 'node', version: '26.10.0', options: LOADER },
  { name: 'deno', version: '2.9.6', options: ['run', '--allow-all'] },
  { name: 'bun', version: '1.4.5', options: [] },
] as const

const TESTS = 'tests/**/*.e2e.ts'
const LONGEST_MS = 900_000

const names = process.argv.slice(2)
const chosen = RUNTIMES.filter(({ name }) => names.length === 0 || names.includes(name))
const folder = mkdtempSync(join(tmpdir(), 'meridian-runtimes-'))
try {
  install()
  for (const { name, version, options } of chosen) {
    process.stdout.write(`=== ${name} ${version}\n`)
    const program = join(folder, 'node_modules', '.bin', name)
    if (!test([program, ...options].join(' '))) process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function install(): void {
  const dependencies = Object.fromEntries(chosen.map(({ name, version }) => [name, version]))
  // Each of these packages downloads its program in an install script, which .npmrc forbids here.
  const allowScripts = Object.fromEntries(chosen.map(({ name }) => [name, true]))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies, allowScripts }))
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts=false']
  execFileSync('npm', args, { stdio: 'inherit', timeout: LONGEST_MS })
}

function test(command: string): boolean {
  const options = [...LOADER, '--test', '--test-concurrency=2', '--test-timeout=400000']
  const files = globSync(TESTS)
  const { status } = spawnSync(process.execPath, [...options, ...files], {
    env: { ...process.env, TEST_RUNTIME: command },
    stdio: 'inherit',
    timeout: LONGEST_MS,
  })
  return status === 0
}
