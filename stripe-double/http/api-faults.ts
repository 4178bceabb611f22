import * as v from 'valibot'

const method = v.exactOptional(v.picklist(['GET', 'POST', 'DELETE']))

/**
 * `lost` does what was asked and then cuts the connection, `late` does it and then lets `delayMs`
 * pass: the caller cannot know. One with a `method` waits for a call of that kind, as do those that
 * were set after it.
 */
export const ApiFault = v.union([
  v.strictObject({ kind: v.picklist(['403', '429', '500', 'reset', 'lost']), method }),
  v.strictObject({ kind: v.picklist(['slow', 'late']), delayMs: v.number(), method }),
])
export type ApiFault = v.InferOutput<typeof ApiFault>

export interface ApiFaults {
  /** What happens to the next `count` calls of the API. */
  failNext(fault: ApiFault, count: number): void
  /** The fault of this call, or null. */
  take(method: string): ApiFault | null
  clear(): void
}

export function createApiFaults(): ApiFaults {
  const planned: ApiFault[] = []
  return {
    failNext(fault, count) {
      for (let made = 0; made < count; made += 1) planned.push(fault)
    },
    take(called) {
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
