import { copyDatabase } from './copy.ts'
import { findDamage, pendingMigrations } from './inspect.ts'
import { openDb } from './open.ts'

/**
 * Applies what is pending to a copy, which is written to `path` and stays there. Returns the names.
 * Throws where a migration fails, or leaves a database that SQLite finds damaged.
 */
export function tryMigrations(file: string, path: string): string[] {
  const pending = pendingMigrations(file)
  if (pending.length === 0) return []
  copyDatabase(file, path)
  openDb(path).$client.close()
  const [damage] = findDamage(path)
  if (damage === undefined) return pending
  throw new Error(`After the migrations the database would be damaged: ${damage}`)
}
