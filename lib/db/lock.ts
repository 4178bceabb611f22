import { join } from 'node:path'
import { openPlain } from './open.ts'
import { isLocked } from './unit.ts'

const NAME = 'server.lock'

/**
 * Takes the data folder for this process alone: two servers would count the same requests twice,
 * and nothing may be restored under a running one. The lock is one of SQLite's on an empty file, so
 * it ends with the process, however that ends. Returns null where another process has it.
 */
export function tryLockDataDir(dataDir: string): Disposable | null {
  using opening = new DisposableStack()
  try {
    const client = openPlain(join(dataDir, NAME))
    opening.defer(() => client.close())
    client.pragma('journal_mode = MEMORY')
    client.exec('BEGIN EXCLUSIVE')
    return opening.move()
  } catch (cause) {
    if (isLocked(cause)) return null
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`Cannot write into the data folder ${dataDir}: ${reason}`, { cause })
  }
}

/** As `tryLockDataDir`, but throws where another process has the folder. */
export function lockDataDir(dataDir: string): Disposable {
  const lock = tryLockDataDir(dataDir)
  if (lock !== null) return lock
  throw new Error(`Cannot use the data folder ${dataDir}: a server runs on it; stop it first`)
}
