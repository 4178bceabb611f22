import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Gives the memory back that loading code has used and left: tens of megabytes for a large package.
 * For threads whose requests may wait some tens of milliseconds. Node.js only.
 */
export function freeMemory(): void {
  setFlagsFromString('--expose-gc')
  const collect: NodeJS.GCFunction = runInNewContext('gc')
  collect({ type: 'major', flavor: 'last-resort', execution: 'sync' })
}
