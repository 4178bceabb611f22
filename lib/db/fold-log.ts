import { type Db, openPlain } from './open.ts'

/**
 * Moves all of the write-ahead log into the database file, so that it is whole by itself. Leaves
 * both as they are where the file is damaged.
 */
export function foldLog(file: string): void {
  const client = openPlain(file)
  try {
    client.pragma('wal_checkpoint(TRUNCATE)')
  } catch {
    // What SQLite cannot read, it does not change.
  } finally {
    client.close()
  }
}

/**
 * Writes what the last process has left in the log into the database file; the next write begins the
 * log anew. After a failed fsync, what looks whole may be in the memory of the system alone.
 */
export function writeOutLog({ $client }: Db): void {
  $client.pragma('wal_checkpoint(PASSIVE)')
}
