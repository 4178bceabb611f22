import { join } from 'node:path'
import { diskAdvice } from '../parts/disk-advice.ts'
import { reasonOf, withAdvice } from '../parts/reason.ts'
import { openPlain } from './connection.ts'
import { isLocked } from './fault.ts'

/**
 * Locks the data folder for this process: two servers would count requests twice, and a restore must
 * not run under a server. Throws if another process holds the lock.
 */
export function lockDataDir(dataDir: string): Disposable {
  return lockFile(join(dataDir, 'server.lock'), {
    inUse: `Cannot use the data folder ${dataDir}: a server is using it; stop the server first`,
    failed: `Cannot write into the data folder ${dataDir}`,
  })
}

/** Like `lockDataDir`, but returns null if another process holds the lock. */
export function tryLockDataDir(dataDir: string): Disposable | null {
  try {
    return lockDataDir(dataDir)
  } catch (error) {
    if (error instanceof Error && isLocked(error.cause)) return null
    throw error
  }
}

/**
 * Locks an empty file, which it makes if it is missing. The lock is SQLite's lock of a database, so it
 * ends with the process. Throws `inUse` if another process holds it, else `failed` and the reason.
 */
export function lockFile(
  path: string,
  { inUse, failed }: { readonly inUse: string; readonly failed: string },
): Disposable {
  using opening = new DisposableStack()
  try {
    const client = openPlain(path)
    opening.defer(() => client.close())
    client.pragma('journal_mode = MEMORY')
    client.exec('BEGIN EXCLUSIVE')
    return opening.move()
  } catch (cause) {
    if (isLocked(cause)) throw new Error(inUse, { cause })
    const reason = withAdvice(reasonOf(cause), diskAdvice(path, cause))
    throw new Error(`${failed}: ${reason}`, { cause })
  }
}
