import { DAY_MS, HOUR_MS, SECOND_MS } from '../../durations.ts'
import { repeat } from '../../periodic.ts'
import type { Leases } from '../../storage/storage.ts'
import type { Layout } from '../citus/layout.ts'
import { forgetNodesOnShards, removeOldFromShards } from '../citus/retention.ts'
import type { PgPool } from '../connection.ts'
import { replayJournal } from '../rum/replay.ts'
import { forgetNodes, removeOld } from '../rum/retention.ts'
import type { Node } from './nodes.ts'

interface CareOptions {
  readonly pool: PgPool
  readonly layout: Layout
  readonly node: () => Node
  readonly leases: Leases
  readonly now: () => number
  readonly onError: (error: unknown, message: string) => void
}

/** A node that was declared dead this long ago has ended: nothing is written under its id any more. */
const ENDED_AFTER_MS = DAY_MS
const CARE_MS = 2 * SECOND_MS

/** Regularly sums up the telemetry of dead nodes, and removes old rows. */
export function careForNodes(options: CareOptions): Disposable {
  const { pool, layout, node, leases, now, onError } = options
  const care = async () => {
    for (const { id, isEnded } of await node().buryDead(ENDED_AFTER_MS)) {
      await replayJournal(pool, id, layout)
      if (isEnded) await node().forget(id)
    }
  }
  const removeOldRows = async () => {
    const isLocal = layout === 'local'
    await (isLocal ? removeOld : removeOldFromShards)(pool, now())
    await (isLocal ? forgetNodes : forgetNodesOnShards)(pool, await node().list())
  }
  const removeAll = () => leases.runAlone('telemetry retention', removeOldRows, { restMs: HOUR_MS })
  const stack = new DisposableStack()
  stack.use(repeat(CARE_MS, care, (error) => onError(error, 'cannot sum up for a dead node')))
  stack.use(repeat(HOUR_MS, removeAll, (error) => onError(error, 'cannot remove old telemetry')))
  return stack
}
