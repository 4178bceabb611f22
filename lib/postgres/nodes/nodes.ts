import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { SECOND_MS } from '../../durations.ts'
import { type PgConnection, type PgPool, SOON_MS } from '../connection.ts'
import { createFlushes } from './flushes.ts'
import { shareRuns } from './share-runs.ts'

/** A node that has given no sign of life for this long is dead. */
const DEAD_AFTER_MS = 10 * SECOND_MS
/** The longest that a change of keys waits for other nodes. */
const BARRIER_MS = 500
const BARRIER_STEP_MS = 50
const CHANNEL = 'node_revisions'
/**
 * One round trip that does not wait for the disk: if PostgreSQL crashes and forgets the acknowledgement, the
 * node repeats it within a second.
 */
const ACKNOWLEDGE = `
  WITH changed AS (
    UPDATE nodes SET revision = $2 WHERE id = $1 AND revision < $2 RETURNING revision
  )
  SELECT set_config('synchronous_commit', 'off', true), pg_notify('${CHANNEL}', '') FROM changed`

/** This process among those that share the database. */
export type Node = Awaited<ReturnType<typeof joinNodes>>

/**
 * Adds this process to the nodes. `version` is that of the release, `revision` that of the keys in memory:
 * -1 if they are not loaded yet.
 */
export async function joinNodes(pool: PgPool, version: string, revision: number) {
  const id = randomUUID()
  const run = (sql: string, params: readonly unknown[] = []) =>
    pool.use((connection) => connection.query(sql, params))
  await run(
    `INSERT INTO nodes (id, version, revision, started_at, seen_at)
     VALUES ($1, $2, $3, now_ms(), now_ms())`,
    [id, version, revision],
  )
  const barrier = await openBarrier(pool)
  return {
    id,
    flushes: createFlushes(pool, id),
    /**
     * Declares nodes without a sign of life dead. Returns all dead nodes that are not yet forgotten, and
     * whether each has been dead for longer than `endedAfterMs`.
     */
    buryDead: async (endedAfterMs: number): Promise<{ id: string; isEnded: boolean }[]> => {
      await run(
        'UPDATE nodes SET died_at = now_ms() WHERE died_at IS NULL AND seen_at < now_ms() - $1::bigint',
        [DEAD_AFTER_MS],
      )
      const { rows } = await run(
        'SELECT id, died_at < now_ms() - $1::bigint FROM nodes WHERE died_at IS NOT NULL',
        [endedAfterMs],
      )
      return rows.map(([dead, isEnded]) => ({ id: String(dead), isEnded: isEnded === true }))
    },
    /** The ids of all nodes that are not forgotten. */
    list: async (): Promise<string[]> => {
      const { rows } = await run('SELECT id FROM nodes')
      return rows.map(([known]) => String(known))
    },
    /** Removes a dead node once no work is left for it. */
    forget: async (dead: string): Promise<void> => {
      await run('DELETE FROM nodes WHERE id = $1 AND died_at IS NOT NULL', [dead])
    },
    /** Lets the others know that all changes of keys up to the revision have taken effect here. */
    acknowledge: async (newest: number): Promise<void> => {
      await pool.use((connection) => connection.query(ACKNOWLEDGE, [id, newest]), SOON_MS)
    },
    /** Waits until all living nodes that know keys have acknowledged the revision, at most half a second. */
    waitForAll: barrier.wait,
    [Symbol.asyncDispose]: async () => {
      await barrier[Symbol.asyncDispose]()
      // If this fails, the others will declare it dead after a while.
      await run('UPDATE nodes SET died_at = now_ms() WHERE id = $1', [id]).catch(() => {})
    },
  }
}

/** The condition for rows of `nodes` that have not ended, and gave a sign of life in the last ten seconds. */
export const LIVING = `died_at IS NULL AND seen_at >= now_ms() - ${DEAD_AFTER_MS}`

export async function countLiving(connection: PgConnection): Promise<number> {
  const { rows } = await connection.query(`SELECT count(*) FROM nodes WHERE ${LIVING}`)
  return Number(rows[0]?.[0])
}

/** The error for work that needs the database alone, while `count` nodes use it. */
export function inUse(count: number): Error {
  return new Error(
    `The database is in use by ${count} ${count === 1 ? 'server' : 'servers'}: stop them first; ` +
      'one that was killed counts for ten seconds more',
  )
}

async function openBarrier(pool: PgPool) {
  /** Settles at the next acknowledgement of a node. */
  let woken = Promise.withResolvers<void>()
  const listening = await pool.listen(CHANNEL, () => {
    woken.resolve()
    woken = Promise.withResolvers()
  })
  // Changes that wait at the same time share the answers.
  const least = shareRuns(() => pool.use(readLeastRevision, SOON_MS))
  return {
    wait: async (revision: number): Promise<void> => {
      const end = performance.now() + BARRIER_MS
      while (performance.now() < end) {
        const { promise } = woken
        if ((await least.run()) >= revision) return
        const timer = AbortSignal.timeout(BARRIER_STEP_MS)
        await Promise.race([promise, once(timer, 'abort')])
      }
    },
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  }
}

/** Returns up to which revision all living nodes that know keys have acknowledged the changes. */
async function readLeastRevision(connection: PgConnection): Promise<number> {
  const sql = 'SELECT min(revision) FROM nodes WHERE died_at IS NULL AND revision >= 0'
  const { rows } = await connection.query(sql)
  return Number(rows[0]?.[0] ?? Number.POSITIVE_INFINITY)
}
