import { DAY_MS, HOUR_MS, SECOND_MS } from '../../durations.ts'
import { repeat } from '../../periodic.ts'
import type { Leases } from '../../storage/storage.ts'
import type { PgPool } from '../connection.ts'
import { replayJournal } from '../rum/replay.ts'
import { forgetNodes, removeOld } from '../rum/retention.ts'
import type { Node } from './nodes.ts'

interface CareOptions {
  readonly pool: PgPool
  readonly node: () => Node
  readonly leases: Leases
  readonly now: () => number
  readonly onError: (error: unknown, message: string) => void
}

/** A node that was given up this long ago has ended: nothing is written under its id any more. */
const ENDED_AFTER_MS = DAY_MS
const CARE_MS = 2 * SECOND_MS

/** Does what nodes do for each other: sums up the telemetry of dead ones, and removes old rows. */
export function careForNodes({ pool, node, leases, now, onError }: CareOptions): Disposable {
  const care = async () => {
    for (const { id, isEnded } of await node().buryDead(ENDED_AFTER_MS)) {
      await replayJournal(pool, id)
      if (isEnded) await node().forget(id)
    }
  }
  const removeOldRows = async () => {
    await removeOld(pool, now())
    await forgetNodes(pool, await node().list())
  }
  const removeAll = () => leases.runAlone('telemetry retention', removeOldRows, { restMs: HOUR_MS })
  const stack = new DisposableStack()
  stack.use(repeat(CARE_MS, care, (error) => onError(error, 'cannot sum up for a dead node')))
  stack.use(repeat(HOUR_MS, removeAll, (error) => onError(error, 'cannot remove old telemetry')))
  return stack
}
