import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { codeUrl } from '../clone-or-package.ts'

/** Keeps the heap small. Most of what the process holds lies outside of it. */
const HEAP_MB = 96

/** Runs a command of this service and returns what it wrote to stdout. Rejects with its error. */
export type RunScript = (name: 'backup' | 'doctor' | 'geo', ...args: string[]) => Promise<string>

interface ScriptOptions {
  readonly heapMb?: number | undefined
  readonly settings?: Readonly<Record<string, string>> | undefined
}

/**
 * Returns a function that runs a file of scripts/ with the settings of this process, in a low-priority
 * process of its own, which ends when `signal` is aborted. `heapMb` limits the heap of its JavaScript;
 * `settings` come before those of this process.
 */
export function createRunScript(
  signal: AbortSignal,
  { heapMb = HEAP_MB, settings = {} }: ScriptOptions = {},
): RunScript {
  return (name, ...args) => {
    const script = fileURLToPath(codeUrl(`../../../scripts/${name}`, import.meta.url))
    const command = [process.execPath, ...process.execArgv, script, ...args] as const
    return runLowPriority(command, signal, {
      ...process.env,
      ...settings,
      NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --max-old-space-size=${heapMb} --max-semi-space-size=8`,
    })
  }
}

/**
 * Runs a program at low priority, waits for its end and returns what it wrote to stdout. Its stdin ends
 * when this process ends, even if this process is killed. If the program fails, throws an error with its
 * stderr, exit code or signal; if `signal` ends it, an AbortError.
 */
export async function runLowPriority(
  [program, ...args]: readonly [string, ...string[]],
  signal: AbortSignal,
  env = process.env,
): Promise<string> {
  // Only SIGKILL ends a frozen program.
  const ending = { signal, killSignal: 'SIGKILL' } as const
  const child = spawn(program, args, { stdio: 'pipe', env, ...ending })
  if (child.pid !== undefined) lowerPriority(child.pid)
  const [output, errors, [code, killedBy]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  if (killedBy === 'SIGKILL') throw new Error('killed by SIGKILL, perhaps for lack of memory')
  if (killedBy !== null) throw new Error(`killed by ${killedBy}`)
  if (code !== 0) throw new Error(errors.trim().slice(-500) || `ended with the code ${code}`)
  return output
}

/** Best effort: the system may forbid it, or the program may have ended. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    // It runs at normal priority.
  }
}
