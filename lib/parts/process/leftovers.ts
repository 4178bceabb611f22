import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { HOUR_MS } from '../durations.ts'

/** A suspended machine or a slow disk rarely pauses a process for longer. */
const ABANDONED_AFTER_MS = 6 * HOUR_MS

/**
 * Removes abandoned unfinished files and folders whose names match `pattern`; skips those that it
 * may not remove. Process IDs would not show what is abandoned, because each container has its own.
 */
export function removeLeftovers(
  directory: string,
  pattern: RegExp,
  isAbandoned: (path: string) => boolean,
): void {
  for (const name of namesIn(directory)) {
    if (!pattern.test(name)) continue
    const path = join(directory, name)
    try {
      if (isAbandoned(path)) rmSync(path, { recursive: true, force: true })
    } catch {
      // It is locked, belongs to another user, or is removed by another process.
    }
  }
}

/** Whether nobody has changed the file or folder for six hours. Throws if it does not exist. */
export function isLongUnchanged(path: string): boolean {
  // Not the modification time: a downloaded file gets that of the server's file.
  return Date.now() - statSync(path).ctimeMs > ABANDONED_AFTER_MS
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return [] // it is missing or of another user
  }
}
