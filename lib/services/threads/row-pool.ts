import type { KeyRing } from '../../access/key-ring.ts'
import { createRowPool, type RowPool, ThreadRows } from '../../limits/buckets/thread-rows.ts'
import { repeat } from '../../periodic.ts'

/** How many callers, users and periods other threads can serve in all. The first thread serves the rest. */
const ROWS = 128 * 1024

/** How often to look for keys that other processes have changed. */
const LOOK_MS = 10

/** `threads`: how many answer look-ups, with the first one. Returns undefined if there are no others. */
export function openRowPool(threads: number): RowPool | undefined {
  return threads === 1 ? undefined : createRowPool(ThreadRows.make(ROWS))
}

/** Ends all permits of network threads whenever keys change. */
export function endPermitsOnChange(keys: KeyRing, rowPool: RowPool | undefined): Disposable {
  if (rowPool === undefined) return new DisposableStack()
  keys.onChange(() => rowPool.rows.endEpoch())
  return repeat(
    LOOK_MS,
    async () => keys.lookForChanges(),
    () => {},
  )
}
