import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { mintKey } from '../../lib/access/api-key.ts'
import type { PgPool } from '../../lib/postgres/connection.ts'

const CLOCK_TICK_US = 10_000
const KEYS_PER_USER = 5
const AT_ONCE = 5_000

/**
 * Returns a function that reads the processor time of PostgreSQL in microseconds, with that of connections which
 * have ended. It must run on this machine.
 */
export async function watchPostgres(pool: PgPool): Promise<() => number> {
  const { rows } = await pool.use((connection) => connection.query('SELECT pg_backend_pid()'))
  const main = Number(readStat(String(rows[0]?.[0]))?.parent)
  return () => {
    const own = readStat(String(main))
    if (own === undefined)
      throw new Error('Cannot measure: PostgreSQL does not run on this machine')
    const children = readdirSync('/proc').flatMap((pid) => {
      const stat = /^\d+$/.test(pid) ? readStat(pid) : undefined
      return stat?.parent === main ? [stat.used] : []
    })
    return children.reduce((sum, used) => sum + used, own.used + own.ofEnded) * CLOCK_TICK_US
  }
}

/** undefined: the process has ended. */
function readStat(pid: string) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    const sum = (from: number) => Number(fields[from]) + Number(fields[from + 1])
    return { parent: Number(fields[1]), used: sum(11), ofEnded: sum(13) }
  } catch {
    return undefined
  }
}

/** Adds secret keys of a plan, five per user. Returns their ids and texts. */
export async function addKeys(
  pool: PgPool,
  count: number,
  plan = 'free',
): Promise<{ id: string; text: string }[]> {
  const minted = Array.from({ length: count }, () => mintKey('secret'))
  const userIds = Array.from({ length: Math.ceil(count / KEYS_PER_USER) }, () => randomUUID())
  for (let from = 0; from < count; from += AT_ONCE) {
    const some = minted.slice(from, from + AT_ONCE)
    const users = some.map((_, at) => userIds[Math.floor((from + at) / KEYS_PER_USER)])
    await pool.use(async (connection) => {
      await connection.query(
        `INSERT INTO users (id, email, plan, created_at)
         SELECT DISTINCT id, id || '@example.com', $2::text, 0 FROM unnest($1::text[]) AS id`,
        [users, plan],
      )
      await connection.query(
        `INSERT INTO api_keys (id, user_id, hash, prefix, name, type, created_at)
         SELECT id, user_id, hash, prefix, 'bench', 'secret', 0
         FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS key (id, user_id, hash, prefix)`,
        [
          some.map(({ id }) => id),
          users,
          some.map(({ hash }) => hash),
          some.map(({ prefix }) => prefix),
        ],
      )
    })
  }
  return minted.map(({ id, text }) => ({ id, text }))
}

/** Adds sites of one user, with the origins `https://site-0.example` and so on. */
export async function addSites(pool: PgPool, count: number): Promise<void> {
  await pool.use((connection) =>
    connection.query(
      `INSERT INTO sites (id, user_id, name, host, created_at, is_first)
       SELECT 'site-' || n, (SELECT min(id) FROM users), 'https://site-' || n || '.example',
         'site-' || n || '.example', 1, 1
       FROM generate_series(0, $1::int - 1) AS n`,
      [count],
    ),
  )
}
