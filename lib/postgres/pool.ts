import pg from 'pg'
import { NUMBER_TYPES, type PgConnection, type PgPool } from './connection.ts'
import { listen } from './listen.ts'

export interface PoolOptions {
  /** `postgres://user:password@host:port/database`, with libpq's parameters such as `sslmode`. */
  readonly url: string
  /** The largest number of connections. */
  readonly max: number
  /** Shown in `pg_stat_activity`. */
  readonly name: string
  /** Errors of connections that are not in use. */
  readonly onError: (error: unknown) => void
}

const CONNECT_TIMEOUT_MS = 5_000
/** A transaction whose process has stopped would keep other writes waiting: the server ends it. */
const IDLE_TRANSACTION_MS = 5_000
const STATEMENT_TIMEOUT_MS = 60_000
/** More than the service has, although texts vary with the number of their parameters. */
const MAX_NAMED = 500

const types = {
  getTypeParser: (id: number, format?: 'text' | 'binary') =>
    Object.values(NUMBER_TYPES).some((type) => type === id)
      ? Number
      : pg.types.getTypeParser(id, format as 'text'),
}

/** Opens connections when they are needed. */
export function openPool({ url, max, name, onError }: PoolOptions): PgPool {
  const options: pg.ClientConfig = {
    connectionString: url,
    types,
    application_name: name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    keepAlive: true,
  }
  const pool = new pg.Pool({ ...options, max })
  pool.on('error', onError)
  // If a connection breaks while it is lent, its next statement rejects.
  pool.on('connect', (client) => client.on('error', () => {}))
  const named = nameStatements()
  return {
    use: async (work) => {
      const client = await pool.connect()
      let isGood = false
      try {
        const result = await work(toConnection(client, named))
        isGood = true
        return result
      } finally {
        client.release(!isGood)
      }
    },
    listen: (channel, heard) => listen(() => new pg.Client(options), channel, { heard, onError }),
    [Symbol.asyncDispose]: () => pool.end(),
  }
}

function toConnection(client: pg.PoolClient, named: (text: string) => string | undefined) {
  return {
    query: async (text, params = []) => {
      const name = named(text)
      const query = { ...(name !== undefined && { name }), text, rowMode: 'array' } as const
      const { rows, rowCount } = await client.query<unknown[]>({ ...query, values: [...params] })
      return { rows, changes: rowCount ?? 0 }
    },
    runScript: async (sql) => {
      await client.query(sql)
    },
  } satisfies PgConnection
}

/** Names statements, so that the server parses each of them once for a connection. */
function nameStatements() {
  const names = new Map<string, string>()
  return (text: string): string | undefined => {
    const known = names.get(text)
    if (known !== undefined || names.size === MAX_NAMED) return known
    const name = `m${names.size}`
    names.set(text, name)
    return name
  }
}
