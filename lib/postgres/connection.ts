import type { Outcome } from '../db/engine.ts'

/** One connection. Statements run in the order of the calls. */
export interface PgConnection {
  /** Runs one statement, whose parameters are `$1`, `$2` and so on. Rejects with the server's error. */
  query(text: string, params?: readonly unknown[]): Promise<Outcome>
  /** Runs statements without parameters. */
  runScript(sql: string): Promise<void>
}

/** Connections to one database. */
export interface PgPool extends AsyncDisposable {
  /** Lends a connection to `work` alone. A connection on which `work` fails is not used again. */
  use<Result>(work: (connection: PgConnection) => Promise<Result>): Promise<Result>
}

/** Types of which the driver makes texts, because they may not fit a number: here, all do. */
export const NUMBER_TYPES = { int8: 20, numeric: 1700 } as const
