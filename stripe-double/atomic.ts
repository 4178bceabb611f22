import type Stripe from 'stripe'
import { StripeDoubleError } from './http/stripe-error.ts'
import type { State } from './state.ts'
import type { World } from './world.ts'

/**
 * Runs `action` so that it is done whole or not at all; events are sent when it is done. A declined
 * charge is no failure: that it was tried stays.
 */
export function atomically<Result>(world: World, action: (world: World) => Result): Result {
  const restore = snapshot(world.state)
  let told: Stripe.Event[] = []
  try {
    return action({ ...world, deliver: (event) => told.push(event) })
  } catch (error) {
    if (!isDeclined(error)) {
      restore()
      told = []
    }
    throw error
  } finally {
    for (const event of told) world.deliver(event)
  }
}

/** Rows are replaced and never changed, so the tables are all that has to be copied. */
function snapshot({ tables, ...rest }: State): () => void {
  const all: Map<string, unknown>[] = [...Object.values(tables), ...Object.values(rest)]
  const copies = all.map(copy)
  return () => {
    for (const restore of copies) restore()
  }
}

function copy(table: Map<string, unknown>): () => void {
  const entries = [...table]
  return () => {
    table.clear()
    for (const [key, value] of entries) table.set(key, value)
  }
}

function isDeclined(error: unknown): boolean {
  return error instanceof StripeDoubleError && error.status === 402
}
