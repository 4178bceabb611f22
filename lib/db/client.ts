import type Sqlite from 'better-sqlite3'

/** A connection of the driver. */
export type Client = Sqlite.Database
