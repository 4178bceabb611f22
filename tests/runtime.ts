import { basename } from 'node:path'

/**
 * What runs a program of this repository, as a command without it: this Node.js, or what
 * TEST_RUNTIME says, which `npm run test:runtimes` sets for each runtime in turn.
 */
export const RUNTIME: readonly [string, ...string[]] = readRuntime()

export const IS_BUN = basename(RUNTIME[0]) === 'bun'

/** Whether npm start and npx run it, too. */
export const IS_INSTALLED = RUNTIME[0] === process.execPath

function readRuntime(): [string, ...string[]] {
  const [program, ...args] = (process.env['TEST_RUNTIME'] ?? '').split(' ')
  return program ? [program, ...args] : [process.execPath, '--import', 'tsx']
}
