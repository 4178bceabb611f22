import { DAY_MS, HOUR_MS, SECOND_MS } from '../../parts/durations.ts'
import { repeat } from '../../parts/repeat.ts'
import type { PgPool } from '../../postgres/connection.ts'
import type { Node } from '../../postgres/nodes/nodes.ts'
import { replayJournal, replayRemoved } from '../../rum/postgres/replay.ts'
import { removeCounted, removeOld } from '../../rum/postgres/retention.ts'
import type { Leases } from '../storage.ts'

interface CleanUpOptions {
  readonly pool: PgPool
  readonly node: () => Node
  readonly leases: Leases
  readonly now: () => number
  readonly onError: (error: unknown, message: string) => void
}

/** Most processes that were only paused have joined again by then. The others can count nothing more. */
const REMOVABLE_AFTER_MS = DAY_MS
const TAKE_OVER_MS = 2 * SECOND_MS

/** Regularly takes over the telemetry of dead nodes, and removes old rows. */
export function startCleanUp({ pool, node, leases, now, onError }: CleanUpOptions): Disposable {
  const takeOverDead = async () => {
    await node().markDead()
    for (const { id, isRemovable } of await node().listDead(REMOVABLE_AFTER_MS)) {
      await replayJournal(pool, id)
      if (isRemovable) await node().removeDead(id)
    }
  }
  const removeOldRows = async () => {
    await removeOld(pool, now())
    await removeCounted(pool, await node().listIds())
    // Last, so that a journal that cannot be read keeps nothing else from being removed.
    await replayRemoved(pool)
  }
  const removeAlone = () =>
    leases.runAlone('telemetry retention', removeOldRows, { restMs: HOUR_MS })
  const stack = new DisposableStack()
  stack.use(repeat(TAKE_OVER_MS, takeOverDead, (error) => onError(error, TAKE_OVER_FAILED)))
  stack.use(repeat(HOUR_MS, removeAlone, (error) => onError(error, 'cannot remove old telemetry')))
  return stack
}

const TAKE_OVER_FAILED = 'cannot take over the telemetry of a dead node'
