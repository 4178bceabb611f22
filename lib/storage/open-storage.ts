import { openKeyRing } from '../access/key-ring/key-ring.ts'
import { checkpointWal, openDb } from '../db/open.ts'
import { createMeterStore } from '../limits/meter-store.ts'
import { createRumReader } from '../rum/reader.ts'
import { openRumWriter } from '../rum/writer.ts'
import { openCountsWriter } from './counts-writer.ts'
import { ONLY_PROCESS } from './only-process.ts'
import type { SqliteStorage, StorageOptions } from './storage.ts'
import { moveToThreads } from './threads.ts'

/** Opens the database: checked, migrated, and with the write-ahead log of the last run moved into it. */
export function openStorage(options: StorageOptions): SqliteStorage {
  const { file, replicated, onCrash } = options
  const db = openDb(file, { replicated })
  // Litestream checkpoints a replicated database itself.
  if (!replicated) checkpointWal(db)
  if (onCrash !== undefined) return moveToThreads(db, { ...options, onCrash })
  const rum = openRumWriter(db, options)
  return {
    ...ONLY_PROCESS,
    db,
    shortReads: db,
    longReads: db,
    writeCounts: openCountsWriter(db),
    meterStore: createMeterStore(db),
    openKeys: async (plans, onError) => openKeyRing(db, plans, onError),
    rum: { writer: rum, reader: createRumReader(db) },
    [Symbol.asyncDispose]: async () => {
      await rum[Symbol.asyncDispose]()
      db.$client.close()
    },
  }
}
