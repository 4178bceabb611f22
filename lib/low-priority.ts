import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { text } from 'node:stream/consumers'

/**
 * Runs a program that leaves the processor to others who want it, and waits for its end. Throws
 * what it says on stderr where it ends with an error, or is ended by `signal`.
 */
export async function runLowPriority(
  [program, ...args]: readonly [string, ...string[]],
  signal: AbortSignal,
): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], signal })
  if (child.pid !== undefined) yieldProcessor(child.pid)
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  if (code !== 0) throw new Error(said.trim().slice(-500) || `ended with the code ${code}`)
}

/** A wish: systems that forbid it, or where the program has ended already, do no harm. */
function yieldProcessor(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    // It runs like any other.
  }
}
