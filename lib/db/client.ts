import type Sqlite from 'better-sqlite3'

/** A connection of the driver. */
export type Client = Sqlite.Database

/** A prepared statement. Its rows are arrays of values. */
export type Prepared = Sqlite.Statement<unknown[], unknown[]>
