import type { Outcome } from '../parts/sql.ts'

/** One connection. Statements run in the order of the calls. */
export interface PgConnection {
  /** Runs one statement, whose parameters are `$1`, `$2` and so on. Rejects with the server's error. */
  query(text: string, params?: readonly unknown[]): Promise<Outcome>
  /** Runs statements without parameters. */
  runScript(sql: string): Promise<void>
}

/** A function for each channel. It gets the text of a notice, or undefined if notices may have been missed. */
export type Channels = Readonly<Record<string, (text?: string) => void>>

/** Connections to one database. */
export interface PgPool extends AsyncDisposable {
  /**
   * Lends a connection to `work` alone. A connection on which `work` fails is not used again. Each statement
   * rejects after `longestMs`, by default about a minute, because the connection may have stalled. With
   * `QUICK_MS`, `work` gets one of the connections for quick statements.
   */
  use<Result>(
    work: (connection: PgConnection) => Promise<Result>,
    longestMs?: number,
  ): Promise<Result>
  /**
   * Calls the function of the channel at each notification, and all of them whenever some may have been missed,
   * such as after the connection was lost. Stops when it is disposed of.
   */
  listen(channels: Channels): Promise<AsyncDisposable>
}

/**
 * How long a quick statement may take, such as those by which a node sends its heartbeat, learns of
 * changed keys and stores beacons. They take milliseconds, unless their connection has stalled.
 */
export const QUICK_MS = 5_000

/** Types that the driver returns as texts, because their values may not fit a number. Ours always do. */
export const NUMBER_TYPES = { int8: 20, numeric: 1700 } as const
