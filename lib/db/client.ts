import type Sqlite from 'better-sqlite3'

/** A connection of the driver. */
export type Client = Sqlite.Database

/** An object that holds a connection of this thread. */
export interface Connection {
  readonly $client: Client
}

/** A prepared statement. Its rows are arrays of values. */
export type Prepared = Sqlite.Statement<unknown[], unknown[]>
