import type { Connection } from '../../db/connection.ts'
import { countStatements } from './counts.ts'
import { entryStatements } from './entries.ts'
import { rowStatements } from './rows.ts'

/** The statements of telemetry, prepared once. */
export type RumStore = ReturnType<typeof createRumStore>

export function createRumStore(db: Connection) {
  return { ...entryStatements(db), ...rowStatements(db), ...countStatements(db) }
}
