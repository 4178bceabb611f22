import { setTimeout as sleep } from 'node:timers/promises'
import { type Channels, type PgPool, QUICK_MS } from '../connection.ts'
import { shareRuns } from './share-runs.ts'

interface BarrierTimes {
  /** The longest that a change of keys waits for other nodes. */
  readonly longestMs: number
  /** How often to ask which nodes are behind, in case a notice was lost or a node is now dead. */
  readonly stepMs: number
}

const TIMES: BarrierTimes = { longestMs: 500, stepMs: 50 }
const CHANNEL = 'node_revisions'
/**
 * Stores the acknowledgement of the node `$1`, and notifies the others. One round trip that does not wait for
 * the disk: if PostgreSQL crashes and loses the acknowledgement, the node repeats it within a second.
 */
export const ACKNOWLEDGE = `
  WITH changed AS (
    UPDATE nodes SET revision = $2 WHERE id = $1 AND revision < $2 RETURNING id, revision
  )
  SELECT set_config('synchronous_commit', 'off', true), pg_notify('${CHANNEL}', id || ' ' || revision)
  FROM changed`
/** The newest revision, and those of all other live nodes that know keys. */
const READ_NODES = `
  SELECT changes.newest, nodes.id, nodes.revision
  FROM (SELECT coalesce(max(revision), 0) AS newest FROM access_changes) AS changes
  LEFT JOIN nodes ON died_at IS NULL AND nodes.revision >= 0 AND id <> $1`

/**
 * Makes a change of keys wait for the other nodes. `node` returns the id of this one, which knows its own
 * revision.
 */
export function createBarrier(pool: PgPool, node: () => string, times = TIMES) {
  const { longestMs, stepMs } = times
  /** The newest revision of each node, as read or as heard in a notice. A notice comes after the row is stored. */
  const acknowledged = new Map<string, number>()
  /** Settles at the next notice, or when the nodes are read again. */
  let woken = Promise.withResolvers<void>()
  const wake = () => {
    woken.resolve()
    woken = Promise.withResolvers()
  }
  const addAcknowledged = (id: string, revision: number) => {
    acknowledged.set(id, Math.max(revision, acknowledged.get(id) ?? revision))
  }
  // Changes that wait at the same time share the answers.
  const reads = shareRuns(async () => {
    const { rows } = await pool.use(
      (connection) => connection.query(READ_NODES, [node()]),
      QUICK_MS,
    )
    const others = rows.flatMap(([, id]) => (id === null ? [] : [String(id)]))
    for (const id of acknowledged.keys()) if (!others.includes(id)) acknowledged.delete(id)
    for (const [, id, revision] of rows)
      if (id !== null) addAcknowledged(String(id), Number(revision))
    wake()
    return { newest: Number(rows[0]?.[0]), others }
  })
  return {
    channels: {
      [CHANNEL]: (text) => {
        const [id = '', revision] = text?.split(' ') ?? []
        if (Number.isSafeInteger(Number(revision))) addAcknowledged(id, Number(revision))
        wake()
      },
    } satisfies Channels,
    /**
     * Waits until all other live nodes that know keys have acknowledged the changes that are committed by now,
     * or `longestMs` have passed. Returns the newest revision. Rejects if the nodes cannot be read at first.
     */
    waitForOthers: async (): Promise<number> => {
      let { newest, others } = await reads.run()
      let readAt = performance.now()
      const isBehind = (id: string) => (acknowledged.get(id) ?? -1) < newest
      for (const end = readAt + longestMs; others.some(isBehind); ) {
        const now = performance.now()
        if (now >= end) break
        const restMs = readAt + stepMs - now
        if (restMs > 0) {
          await Promise.race([
            woken.promise,
            sleep(Math.min(restMs, end - now), undefined, { ref: false }),
          ])
        } else {
          // The change is committed, so a failure here must not be answered as if it had failed.
          others = (await reads.run().catch(() => ({ others }))).others
          readAt = performance.now()
        }
      }
      return newest
    },
  }
}
