import * as v from 'valibot'

/** `lost` does what was asked and then cuts the connection: the caller cannot know. */
export const ApiFault = v.union([
  v.strictObject({ kind: v.picklist(['429', '500', 'reset', 'lost']) }),
  v.strictObject({ kind: v.literal('slow'), delayMs: v.number() }),
])
export type ApiFault = v.InferOutput<typeof ApiFault>

export interface ApiFaults {
  /** What happens to the next `count` calls of the API. */
  failNext(fault: ApiFault, count: number): void
  /** The fault of this call, or null. */
  take(): ApiFault | null
  clear(): void
}

export function createApiFaults(): ApiFaults {
  const planned: ApiFault[] = []
  return {
    failNext(fault, count) {
      for (let made = 0; made < count; made += 1) planned.push(fault)
    },
    take: () => planned.shift() ?? null,
    clear: () => {
      planned.length = 0
    },
  }
}
