import pg from 'pg'
import { urlsOfHosts } from '../parts/net/urls-of-hosts.ts'
import { toArrayParameter } from './array-parameter.ts'
import { NUMBER_TYPES, type PgConnection, type PgPool, QUICK_MS } from './connection.ts'
import { connectionFailure } from './faults.ts'
import { type Hosts, openHosts } from './hosts.ts'
import { listen } from './listen.ts'
import { type Stalls, trackStalls } from './stalls.ts'

export interface PoolOptions {
  /** `postgres://user:password@host:port,host:port/database`, with libpq's parameters such as `sslmode`. */
  readonly url: string
  /** The largest number of connections, without those for quick statements and for listening. */
  readonly max: number
  /** Shown in `pg_stat_activity`. */
  readonly name: string
  /** Errors of connections that are not in use. */
  readonly onError: (error: unknown) => void
}

const CONNECT_TIMEOUT_MS = 5_000
/** How often a caller waits for another host. More often, hosts take turns in accepting and refusing connections. */
const MAX_SEEKS = 2
/** A transaction whose process has stopped would keep other writes waiting: the server ends it. */
const IDLE_TRANSACTION_MS = 5_000
const STATEMENT_TIMEOUT_MS = 60_000
/** The server ends a statement earlier: if it has not, the connection must have stalled. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5_000
/** After this long, the system checks whether an idle connection still exists, such as that of a listener. */
const IDLE_MS = 10_000
/** Connections for quick statements alone, which therefore never wait for others. */
const QUICK_CONNECTIONS = 3
/** More statements than the service has, although their texts vary with the number of parameters. */
const MAX_NAMED = 500

const types = {
  getTypeParser: (id: number, format?: 'text' | 'binary') =>
    Object.values(NUMBER_TYPES).some((type) => type === id)
      ? Number
      : pg.types.getTypeParser(id, format as 'text'),
}

/** Returns a pool that opens connections when they are needed. Of several hosts, that which accepts writes serves. */
export function openPool({ url, max, name, onError }: PoolOptions): PgPool {
  const options: pg.ClientConfig = {
    types,
    application_name: name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: IDLE_MS,
  }
  const hosts = openHosts(url, options)
  const stalls = trackStalls()
  class Client extends pg.Client {
    constructor() {
      super(hosts.current())
    }
  }
  const onConnect = async (client: pg.ClientBase) => {
    await prepare(client)
    await hosts.requireWritable(client)
  }
  const open = (size: number) => {
    const pool = new pg.Pool({ ...options, Client, max: size, onConnect })
    pool.on('error', onError)
    // If a connection breaks while it is lent, its next statement rejects.
    pool.on('connect', (client) => client.on('error', () => {}))
    return pool
  }
  const pools = { patient: open(max), quick: open(QUICK_CONNECTIONS) }
  const named = nameStatements()
  return {
    use: async (work, longestMs = ANSWER_TIMEOUT_MS) => {
      const isQuick = longestMs <= QUICK_MS
      const client = await connect(isQuick ? pools.quick : pools.patient, stalls, hosts)
      let isGood = false
      try {
        const result = await work(toConnection(client, { named, stalls, longestMs }))
        isGood = true
        return result
      } finally {
        client.release(!isGood)
      }
    },
    listen: (channels) => {
      const open = async () => {
        await hosts.seek(hosts.current())
        return new Client()
      }
      return listen(open, channels, onError)
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([pools.patient.end(), pools.quick.end()])
    },
  }
}

/**
 * Takes a sound connection. Whatever prevents that counts as a fault of the database, even a refused user.
 */
async function connect(pool: pg.Pool, stalls: Stalls, hosts: Hosts): Promise<pg.PoolClient> {
  for (let seeks = 0; ; ) {
    const tried = hosts.current()
    try {
      const client = await pool.connect()
      if (stalls.isSound(client)) return client
      client.release(true)
    } catch (error) {
      seeks += 1
      if (seeks > MAX_SEEKS || !(await hosts.seek(tried))) throw connectionFailure(error)
    }
  }
}

interface ConnectionOptions {
  readonly named: (text: string) => string | undefined
  readonly stalls: Stalls
  readonly longestMs: number
}

function toConnection(
  client: pg.PoolClient,
  { named, stalls, longestMs }: ConnectionOptions,
): PgConnection {
  let failure: unknown
  /** After a fault of the connection, nothing is sent any more: a ROLLBACK would wait as long again. */
  const send = async <Result>(query: () => Promise<Result>): Promise<Result> => {
    if (failure !== undefined) throw failure
    stalls.sent(client)
    try {
      const result = await query()
      stalls.answered(client)
      return result
    } catch (error) {
      if (error instanceof pg.DatabaseError) stalls.answered(client)
      else {
        stalls.failed(client, longestMs)
        failure = connectionFailure(error)
      }
      throw failure ?? error
    }
  }
  return {
    query: async (text, params = []) => {
      const name = named(text)
      const values = params.map((value) => (Array.isArray(value) ? toArrayParameter(value) : value))
      const query = { ...(name !== undefined && { name }), text, values }
      const options = { rowMode: 'array', query_timeout: longestMs } as const
      const { rows, rowCount } = await send(() => client.query<unknown[]>({ ...query, ...options }))
      return { rows, changes: rowCount ?? 0 }
    },
    runScript: async (sql) => {
      await send(() => client.query({ text: sql, ...{ query_timeout: longestMs } }))
    },
  }
}

/**
 * Turns the compiler of statements off. It takes 200 ms and is meant for statements that run for seconds, but
 * the planner calls it for quick ones whose tables it has not analysed yet.
 */
async function prepare(client: pg.ClientBase): Promise<void> {
  await client.query({ text: 'SET jit = off', ...{ query_timeout: QUICK_MS } })
}

/** Names the database of the URL for messages, without user and password. */
export function nameDatabase(url: string): string {
  try {
    const clients = urlsOfHosts(url).map((connectionString) => new pg.Client({ connectionString }))
    const places = clients.map(({ host, port }) => `${host}:${port}`).join(', ')
    return `the PostgreSQL database ${clients[0]?.database ?? ''} at ${places}`
  } catch {
    // The URL names a file that cannot be read, as connecting will report.
    return 'PostgreSQL'
  }
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
