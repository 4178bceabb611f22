import * as v from 'valibot'

const method = v.exactOptional(v.picklist(['GET', 'POST', 'DELETE']))
const shouldRetry = v.exactOptional(v.boolean())

/**
 * When a fault occurs:
 * - before the call runs: `403`, `429`, `locked` (the object is locked), `reset`, `slow` (after `delayMs`),
 *   and `answer`, as a proxy between the caller and Stripe would give it
 * - instead of the call: `500`, which changes nothing
 * - after the call: `500 done` (done, but answered with 500), `lost` (done, but not answered), `late`
 *   (answered after `delayMs`)
 *
 * Like Stripe, the double keeps the answer under the call's idempotency key once the call has begun, so it
 * keeps both kinds of 500. `shouldRetry` sets `Stripe-Should-Retry`. Faults occur in the order in which they
 * were set: one with a `method` waits for the next call with that method, and later faults wait for it.
 */
export const ApiFault = v.union([
  v.strictObject({
    kind: v.picklist(['403', '429', 'locked', '500', '500 done']),
    method,
    shouldRetry,
  }),
  v.strictObject({ kind: v.picklist(['reset', 'lost']), method }),
  v.strictObject({ kind: v.picklist(['slow', 'late']), delayMs: v.number(), method }),
  v.strictObject({ kind: v.literal('answer'), status: v.number(), text: v.string(), method }),
])
export type ApiFault = v.InferOutput<typeof ApiFault>

export function createApiFaults() {
  const planned: ApiFault[] = []
  return {
    /** Sets the fault of the next `count` API calls. */
    failNext(fault: ApiFault, count: number): void {
      for (let made = 0; made < count; made += 1) planned.push(fault)
    },
    /** Returns the fault for this call, or null. */
    take(called: string): ApiFault | null {
      const [next] = planned
      if (next === undefined || (next.method ?? called) !== called) return null
      planned.shift()
      return next
    },
    clear: () => {
      planned.length = 0
    },
  }
}
