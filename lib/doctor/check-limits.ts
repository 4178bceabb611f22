import { type Finding, ok, warning } from './finding.ts'

/** A usable server through which the nodes share rate limits. */
export interface LimitsState {
  /** Such as `Valkey 8.0.1`. */
  readonly name: string
  /** Its setting maxmemory-policy; undefined: it removes no bucket before it is full. */
  readonly evictionPolicy: string | undefined
}

/** Checks that the server keeps the buckets until they are full. */
export function checkLimits({ name, evictionPolicy }: LimitsState): Finding[] {
  const shared = ok(`${name} shares the rate limits among the servers`)
  if (evictionPolicy === undefined) return [shared]
  const text = `${name} removes buckets when its memory is full (maxmemory-policy ${evictionPolicy}): callers then get more than their limit`
  return [shared, warning(text, 'set maxmemory-policy noeviction, or give it a server of its own')]
}
