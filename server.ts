import { setImmediate as nextTurn } from 'node:timers/promises'
import { checkRuntime } from './lib/config/runtime.ts'
import { IS_PACKAGE } from './lib/parts/clone-or-package.ts'
import { compileFirst } from './lib/parts/process/compile-first.ts'
import { exitOnSignals } from './lib/parts/process/stop-on-signals.ts'
import { codeOf, reasonOf, withAdvice } from './lib/parts/reason.ts'

const START = IS_PACKAGE ? 'npx meridian start' : 'npm start'
const INSTALL = IS_PACKAGE ? 'npm install' : 'npm ci'

const USAGE = `Usage: ${START}
Starts the service. Its settings are environment variables: see docs/configuration.md.
`

// First, since loading the rest takes a second.
exitOnSignals()
if (process.argv.includes('--help')) process.stdout.write(USAGE)
else await serve()

async function serve(): Promise<void> {
  try {
    checkRuntime(process.versions)
    refuseArguments(process.argv.slice(2))
    await compileFirst()
    // Imported only now: on an old runtime the SQLite driver would crash the process.
    const { start } = await import('./main/start.ts')
    // Handles the signals that arrived while loading.
    await nextTurn()
    await start()
  } catch (error) {
    const isMissing = codeOf(error) === 'ERR_MODULE_NOT_FOUND'
    const advice = isMissing ? `a package is missing: run ${INSTALL}` : ''
    process.stderr.write(`${withAdvice(reasonOf(error), advice)}\n`)
    process.exitCode = 1
  }
}

/** Somebody who types `--port` would otherwise get a server with the usual settings. */
function refuseArguments([first]: readonly string[]): void {
  if (first === undefined) return
  throw new Error(
    `Cannot start with ${first}: settings are environment variables, such as PORT=8080 ${START}; see docs/configuration.md`,
  )
}
