import type { KeyRing } from '../access/key-ring.ts'
import type { Plans } from '../config/plans.ts'
import type { Db, SqliteDb } from '../db/open.ts'
import type { Queries } from '../db/queries.ts'
import type { WriteUses } from '../db/uses.ts'
import type { MeterStore } from '../limits/meter-store.ts'
import type { RumReader } from '../rum/reader.ts'
import type { RumWriter } from '../rum/writer.ts'
import type { Report } from './channel.ts'

/** The database and what writes to it. */
export interface Storage extends AsyncDisposable {
  readonly db: Db
  /** For queries that find few rows by their keys, and wait for no other. */
  readonly shortReads: Queries
  /** For queries that may take long. They see everything that was committed before. */
  readonly longReads: Queries
  readonly writeUses: WriteUses
  /** Called when the server stops: from then on, counts wait only some seconds for a database that is away. */
  readonly endWaiting: () => void
  readonly meterStore: MeterStore
  /** Loads the API keys. Failures to notice changed ones go to `onError`. */
  readonly openKeys: (plans: Plans, onError: (error: unknown) => void) => Promise<KeyRing>
  readonly rum: { readonly writer: RumWriter; readonly reader: RumReader }
}

/** A database file. */
export type SqliteStorage = Storage & { readonly db: SqliteDb }

export interface StorageOptions {
  readonly file: string
  /** Litestream copies the file. */
  readonly replicated: boolean
  readonly now: () => number
  readonly onError: Report
  /** Called if a thread ends by itself. undefined: everything runs in this thread. */
  readonly onCrash: ((error: unknown) => void) | undefined
}
