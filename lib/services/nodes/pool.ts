import type { KeyRing } from '../../access/key-ring.ts'
import { createRowPool, type RowPool, SharedRows } from '../../limits/buckets/shared-rows.ts'
import { repeat } from '../../periodic.ts'

/** How many callers, users and periods threads can share in all. The first thread answers for all others. */
const ROWS = 128 * 1024

/** How often to look for keys that other processes have changed. */
const LOOK_MS = 10

/** undefined: there are no network threads. */
export function openPool(nodes: number): RowPool | undefined {
  return nodes === 1 ? undefined : createRowPool(SharedRows.make(ROWS))
}

/** Ends all permits whenever keys change. */
export function watchKeys(keys: KeyRing, pool: RowPool | undefined): Disposable {
  if (pool === undefined) return new DisposableStack()
  keys.onChange(() => pool.rows.endEpoch())
  return repeat(
    LOOK_MS,
    async () => keys.lookForChanges(),
    () => {},
  )
}
