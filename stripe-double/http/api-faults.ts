import * as v from 'valibot'

const method = v.exactOptional(v.picklist(['GET', 'POST', 'DELETE']))

/**
 * `lost` does the call and then resets the connection. `late` does the call and answers after
 * `delayMs`; `slow` waits first. A fault with a `method` waits for a call with that method, and later
 * faults wait behind it.
 */
export const ApiFault = v.union([
  v.strictObject({ kind: v.picklist(['403', '429', '500', 'reset', 'lost']), method }),
  v.strictObject({ kind: v.picklist(['slow', 'late']), delayMs: v.number(), method }),
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
