import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, resolve } from 'node:path'

/** What scripts/node.sh adds, for tests that start this Node.js without it. */
export const LOADER = ['--import', './jsx.ts'] as const

/** As in scripts/node.sh. */
const NODE_FLAGS = ['--heap-growing-percent=50', ...LOADER]

/**
 * The command that runs a TypeScript file: this Node.js, or the value of TEST_RUNTIME, which
 * `npm run test:process -- --on NAME` sets.
 */
export const RUNTIME: readonly [string, ...string[]] = readRuntime()

export const IS_BUN = basename(RUNTIME[0]) === 'bun'
export const IS_DENO = basename(RUNTIME[0]) === 'deno'

/** Whether the server runs on the Node.js of the project, as with npm start and npx. */
export const IS_PROJECT_NODE = RUNTIME[0] === process.execPath

/** For tests of what Windows lacks: modes, signals, sockets that are files, bash, links without a privilege. */
export const ON_POSIX = { skip: process.platform === 'win32' && 'Windows lacks this' }

/** For tests that read /proc or write to /dev/full. */
export const ON_LINUX = { skip: process.platform !== 'linux' && 'only Linux has this' }

/** For tests that connect from 127.0.0.2 and others: on macOS, loopback has only 127.0.0.1. */
export const NOT_ON_MACOS = { skip: process.platform === 'darwin' && 'macOS lacks 127.0.0.2' }

/** Windows has no modes. */
export function assertMode(path: string, mode: number): void {
  if (process.platform !== 'win32') assert.equal(statSync(path).mode & 0o777, mode, path)
}

/** A user with few rights. */
export const NOBODY = 65_534

/** Whether this process may become `NOBODY`, who can then read these files and run this runtime. */
export function mayBecomeNobody(): boolean {
  if (process.getuid?.() !== 0) return false
  const check = 'test -x "$1" && test -r "$2" && test -r "$3" && "$0" --version'
  // Absolute paths: relative ones also work in a folder that only this user may open.
  const paths = [tmpdir(), resolve('server.ts'), resolve('jsx.ts')]
  const id = { uid: NOBODY, gid: NOBODY }
  return spawnSync('sh', ['-c', check, RUNTIME[0], ...paths], id).status === 0
}

/**
 * The variables that every process of a test gets. With the compiled code of earlier processes it starts
 * in half the time, as with npm start. Others, such as the settings of a developer, would change the tests.
 */
export function inherited(): Record<string, string> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE } = process.env
  return {
    PATH,
    HOME,
    // No server of a test asks anything outside this machine.
    MERIDIAN_GEO_DOWNLOAD: '0',
    ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
  }
}

function readRuntime(): [string, ...string[]] {
  const [program, ...args] = (process.env['TEST_RUNTIME'] ?? '').split(' ')
  return program ? [program, ...args] : [process.execPath, ...NODE_FLAGS]
}
