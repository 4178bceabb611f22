import { openReadOnly } from './open.ts'

/**
 * Writes the database as it is at this moment to a new file, in one piece and without what was
 * deleted from it. A server may go on writing meanwhile. Throws where the database is damaged.
 */
export function copyDatabase(from: string, to: string): void {
  const client = openReadOnly(from)
  try {
    client.prepare('VACUUM INTO ?').run(to)
  } finally {
    client.close()
  }
}
