import type { KeyRing } from '../access/key-ring/key-ring.ts'
import type { Plans } from '../config/plans.ts'
import type { WriteCounts } from '../db/ledger/pending-counts.ts'
import type { Db, SqliteDb } from '../db/open.ts'
import type { Queries } from '../db/queries.ts'
import type { MeterStore } from '../limits/meter-store.ts'
import type { RumReader } from '../rum/reader.ts'
import type { RumWriter } from '../rum/writer.ts'
import type { ReportError } from './channel.ts'

/** The database and what writes to it. */
export interface Storage extends AsyncDisposable {
  readonly db: Db
  /** For queries that find few rows by their keys. They wait for no other query. */
  readonly shortReads: Queries
  /** For queries that may take long. They see everything that was committed before. */
  readonly longReads: Queries
  readonly writeCounts: WriteCounts
  /** How many rows of counts one transaction writes; default: 1,000, because SQLite's other writers wait meanwhile. */
  readonly countsAtOnce?: number
  /** How long a server that stops tries to write its last counts; absent: once. */
  readonly lastCountsMs?: number
  readonly meterStore: MeterStore
  /** Loads the API keys. Failures to notice changed ones go to `onError`. */
  readonly openKeys: (plans: Plans, onError: (error: unknown) => void) => Promise<KeyRing>
  readonly rum: { readonly writer: RumWriter; readonly reader: RumReader }
  readonly leases: Leases
  readonly flushes: Flushes
}

/** Keeps processes that share the database from doing the same work at the same time. */
export interface Leases {
  /**
   * Runs `work` unless it runs already. Returns whether it ran. The signal aborts when the server stops, and when
   * another process may have begun the work because this one has not reached the database for some seconds.
   */
  readonly runAlone: (
    name: string,
    work: (signal: AbortSignal) => Promise<void>,
    terms?: LeaseTerms,
  ) => Promise<boolean>
  /** Runs `work` once no other work of this name runs. Throws SERVICE_UNAVAILABLE after waiting for a minute. */
  readonly waitAndRun: <Result>(
    name: string,
    work: (signal: AbortSignal) => Promise<Result>,
  ) => Promise<Result>
}

export interface LeaseTerms {
  /** If the work succeeds, no other process runs it until this long after its start; by default 0. */
  readonly restMs?: number
}

/** Lets processes that share the database know when the others have written their counts. */
export interface Flushes {
  /** Runs `flush`, which writes everything that this process has counted. */
  readonly run: (flush: () => Promise<void>) => Promise<void>
  /** Like `run`, and waits for at most 5 seconds until the other processes have written what they had counted. */
  readonly runOnAll: (flush: () => Promise<void>) => Promise<void>
}

/** A database file. */
export type SqliteStorage = Storage & { readonly db: SqliteDb }

export interface StorageOptions {
  readonly file: string
  /** Litestream copies the file. */
  readonly replicated: boolean
  readonly now: () => number
  readonly onError: ReportError
  /** Called if a thread ends by itself. undefined: everything runs in this thread. */
  readonly onCrash: ((error: unknown) => void) | undefined
}
