import { setImmediate as nextTurn } from 'node:timers/promises'
import { checkRuntime } from './lib/config/runtime.ts'
import { compileFirst } from './lib/process/compile-first.ts'
import { exitOnSignals } from './lib/process/stop-on-signals.ts'
import { reasonOf } from './lib/reason.ts'

const USAGE = `Usage: npm start
Starts the service. Its settings are environment variables: see docs/configuration.md.
`

// First, since loading the rest takes a second.
exitOnSignals()
if (process.argv.includes('--help')) process.stdout.write(USAGE)
else await serve()

async function serve(): Promise<void> {
  try {
    checkRuntime(process.versions)
    await compileFirst()
    // Imported only now: on an old runtime the SQLite driver would crash the process.
    const { start } = await import('./start.ts')
    // Handles the signals that arrived while loading.
    await nextTurn()
    await start()
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n`)
    process.exitCode = 1
  }
}
