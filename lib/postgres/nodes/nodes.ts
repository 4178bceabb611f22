import { randomUUID } from 'node:crypto'
import { SECOND_MS } from '../../parts/durations.ts'
import { type PgConnection, type PgPool, QUICK_MS } from '../connection.ts'
import { ACKNOWLEDGE } from './barrier.ts'
import { createFlushes } from './flushes.ts'

/** A node without a heartbeat for this long is dead. */
export const DEAD_AFTER_MS = 10 * SECOND_MS

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
    /** Marks the nodes dead that have sent no heartbeat for ten seconds. */
    markDead: async (): Promise<void> => {
      await run(
        'UPDATE nodes SET died_at = now_ms() WHERE died_at IS NULL AND seen_at < now_ms() - $1::bigint',
        [DEAD_AFTER_MS],
      )
    },
    /** `isRemovable`: the node has been dead for longer than `removableAfterMs`. */
    listDead: async (removableAfterMs: number): Promise<{ id: string; isRemovable: boolean }[]> => {
      const { rows } = await run(
        'SELECT id, died_at < now_ms() - $1::bigint FROM nodes WHERE died_at IS NOT NULL',
        [removableAfterMs],
      )
      return rows.map(([dead, isRemovable]) => ({
        id: String(dead),
        isRemovable: isRemovable === true,
      }))
    },
    listIds: async (): Promise<string[]> => {
      const { rows } = await run('SELECT id FROM nodes')
      return rows.map(([known]) => String(known))
    },
    /** Removes a dead node once no work is left for it. */
    removeDead: async (dead: string): Promise<void> => {
      await run('DELETE FROM nodes WHERE id = $1 AND died_at IS NOT NULL', [dead])
    },
    /** Lets the others know that all changes of keys up to the revision have taken effect here. */
    acknowledge: async (newest: number): Promise<void> => {
      await pool.use((connection) => connection.query(ACKNOWLEDGE, [id, newest]), QUICK_MS)
    },
    [Symbol.asyncDispose]: async () => {
      // If this fails, the others will mark it dead after a while.
      await run('UPDATE nodes SET died_at = now_ms() WHERE id = $1', [id]).catch(() => {})
    },
  }
}

/** The condition for rows of `nodes` not marked dead that sent a heartbeat in the last ten seconds. */
export const IS_LIVE = `died_at IS NULL AND seen_at >= now_ms() - ${DEAD_AFTER_MS}`

export async function countLive(connection: PgConnection): Promise<number> {
  const { rows } = await connection.query(`SELECT count(*) FROM nodes WHERE ${IS_LIVE}`)
  return Number(rows[0]?.[0])
}

/** Whether the node is live, or dead but not yet removed. */
export async function isInNodes(connection: PgConnection, id: string): Promise<boolean> {
  return (await connection.query('SELECT FROM nodes WHERE id = $1', [id])).rows.length > 0
}

/** The error for work that needs the database alone, while `count` nodes use it. */
export function inUse(count: number): Error {
  return new Error(
    `The database is in use by ${count} ${count === 1 ? 'server' : 'servers'}: stop them first; ` +
      'one that was killed counts for ten seconds more',
  )
}
