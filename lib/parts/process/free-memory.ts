import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Collects garbage, and returns the memory to the system: loading a large package leaves tens of
 * megabytes. Takes some tens of milliseconds. Does nothing on Deno and Bun.
 */
export function freeMemory(): void {
  if ('deno' in process.versions || 'bun' in process.versions) return
  setFlagsFromString('--expose-gc')
  const collect: NodeJS.GCFunction = runInNewContext('gc')
  // Threads that start with other flags cannot use the code that was compiled before.
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', flavor: 'last-resort', execution: 'sync' })
}
