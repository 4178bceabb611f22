import { randomUUID } from 'node:crypto'
import { SECOND_MS } from '../../durations.ts'
import { type PgConnection, type PgPool, SOON_MS } from '../connection.ts'
import { ACKNOWLEDGE } from './barrier.ts'
import { createFlushes } from './flushes.ts'

/** A node that has given no sign of life for this long is dead. */
const DEAD_AFTER_MS = 10 * SECOND_MS

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
    [Symbol.asyncDispose]: async () => {
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
