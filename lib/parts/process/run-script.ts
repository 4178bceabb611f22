import { fileURLToPath } from 'node:url'
import { codeUrl } from '../clone-or-package.ts'
import { runLowPriority } from './low-priority.ts'

/** Keeps the heap small. Most of what the process holds lies outside of it. */
const HEAP_MB = 96

/** Runs a command of this service and returns what it wrote to stdout. Rejects with its error. */
export type RunScript = (name: 'backup' | 'doctor' | 'geo', ...args: string[]) => Promise<string>

/**
 * Returns a function that runs a file of scripts/ with the settings of this process, in a low-priority
 * process of its own, which ends when `signal` is aborted. `heapMb` limits the heap of its JavaScript.
 */
export function createRunScript(signal: AbortSignal, heapMb = HEAP_MB): RunScript {
  return (name, ...args) => {
    const script = fileURLToPath(codeUrl(`../../../scripts/${name}`, import.meta.url))
    const command = [process.execPath, ...process.execArgv, script, ...args] as const
    return runLowPriority(command, signal, {
      ...process.env,
      NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --max-old-space-size=${heapMb} --max-semi-space-size=8`,
    })
  }
}
