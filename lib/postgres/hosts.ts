import pg from 'pg'
import { urlsOfHosts } from '../parts/net/urls-of-hosts.ts'
import { QUICK_MS } from './connection.ts'

/** The servers of one database. One of them accepts writes. */
export interface Hosts {
  /** The settings of a connection to the server that accepted writes last; at first, to the first one. */
  readonly current: () => pg.ClientConfig
  /**
   * Looks for the server that accepts writes, on all of them at once. Returns whether that is another one than that
   * of `tried`, the settings of a connection that failed.
   */
  readonly seek: (tried: pg.ClientConfig) => Promise<boolean>
  /** Rejects if connections to the server can only read, although another one may accept writes. */
  readonly requireWritable: (client: pg.ClientBase) => Promise<void>
}

/** `url`: see `DatabaseUrl`. `options`: of all connections. */
export function openHosts(url: string, options: pg.ClientConfig): Hosts {
  const all = urlsOfHosts(url).map((connectionString) => ({ ...options, connectionString }))
  const isOnly = all.length === 1
  let current: pg.ClientConfig = all[0] ?? options
  let seeking: Promise<void> | undefined
  const seekOnce = async () => {
    try {
      current = await Promise.any(all.map(probe))
    } catch {
      // None accepts writes: the failed connection says why.
    } finally {
      seeking = undefined
    }
  }
  return {
    current: () => current,
    seek: async (tried) => {
      if (!isOnly && tried === current) {
        seeking ??= seekOnce()
        await seeking
      }
      return tried !== current
    },
    requireWritable: async (client) => {
      if (!isOnly) await requireWritable(client)
    },
  }
}

/** Resolves with the settings if the server accepts writes. */
async function probe(settings: pg.ClientConfig): Promise<pg.ClientConfig> {
  const client = new pg.Client(settings)
  client.on('error', () => {})
  try {
    await client.connect()
    await requireWritable(client)
    return settings
  } finally {
    client.end().catch(() => {})
  }
}

async function requireWritable(client: pg.ClientBase): Promise<void> {
  const show = { text: 'SHOW transaction_read_only', ...{ query_timeout: QUICK_MS } }
  const { rows } = await client.query<[string]>({ ...show, rowMode: 'array' })
  if (rows[0]?.[0] !== 'off') throw new Error('it only reads, and no other host accepts writes')
}
