import type Stripe from 'stripe'
import type { State } from './state.ts'
import type { World } from './world.ts'

/**
 * Runs `action` as a transaction: if it throws, its changes are undone and its events are not sent.
 */
export function atomically<Result>(world: World, action: (world: World) => Result): Result {
  const restore = snapshot(world.state)
  let events: Stripe.Event[] = []
  try {
    return action({ ...world, deliver: (event) => events.push(event) })
  } catch (error) {
    restore()
    events = []
    throw error
  } finally {
    for (const event of events) world.deliver(event)
  }
}

/** Returns a function that restores the state. Rows need no copy: they are replaced, never mutated. */
function snapshot({ tables, ...rest }: State): () => void {
  const all: Map<string, unknown>[] = [...Object.values(tables), ...Object.values(rest)]
  const copies = all.map((table) => ({ table, entries: [...table] }))
  return () => {
    for (const { table, entries } of copies) {
      table.clear()
      for (const [key, value] of entries) table.set(key, value)
    }
  }
}
