/** Returns a new generator of numbers from 0 to below 1: each time with the same sequence. */
export type NewRandom = () => () => number

/** A figure with its 95 % interval, which is absent if there are not at least two groups. */
export interface Estimate {
  readonly value: number
  readonly low?: number
  readonly high?: number
}

/** How many times each group counts. */
export type Times = Uint32Array

type Statistic = (times: Times) => number

/**
 * A statistic of groups with its bootstrap interval: groups are drawn with replacement, and the interval lies
 * between the quantiles 2.5 % and 97.5 % of the statistic (Efron's percentile method).
 */
export function estimateBy(groups: number, newRandom: NewRandom, statistic: Statistic): Estimate {
  const found: number[] = []
  for (const times of resample(groups, newRandom)) found.push(statistic(times))
  return toEstimate(statistic(onceEach(groups)), found)
}

/** The two statistics of the same resamples: drawing them takes most of the time. */
export function estimateBoth(
  groups: number,
  newRandom: NewRandom,
  { perPrefix, perGroup }: { readonly perPrefix: Statistic; readonly perGroup: Statistic },
): { readonly perPrefix: Estimate; readonly perGroup: Estimate } {
  const ofPrefixes: number[] = []
  const ofGroups: number[] = []
  for (const times of resample(groups, newRandom)) {
    ofPrefixes.push(perPrefix(times))
    ofGroups.push(perGroup(times))
  }
  const once = onceEach(groups)
  return {
    perPrefix: toEstimate(perPrefix(once), ofPrefixes),
    perGroup: toEstimate(perGroup(once), ofGroups),
  }
}

const MOST_RESAMPLES = 2_000
const LEAST_RESAMPLES = 200
/** Drawing more groups in all takes too long. Intervals of so many groups are narrow anyway. */
const MOST_DRAWS = 5_000_000

/** Yields the same array again and again. Nothing for less than two groups. */
function* resample(groups: number, newRandom: NewRandom): Generator<Times> {
  if (groups < 2) return
  const random = newRandom()
  const most = Math.min(MOST_RESAMPLES, Math.floor(MOST_DRAWS / groups))
  const times = new Uint32Array(groups)
  for (let left = Math.max(LEAST_RESAMPLES, most); left > 0; left--) {
    times.fill(0)
    for (let draw = 0; draw < groups; draw++) {
      const group = Math.floor(random() * groups)
      times[group] = (times[group] ?? 0) + 1
    }
    yield times
  }
}

export function onceEach(groups: number): Times {
  return new Uint32Array(groups).fill(1)
}

function toEstimate(value: number, resampled: readonly number[]): Estimate {
  // A resample without a value that counts has no mean.
  const found = resampled.filter((one) => !Number.isNaN(one)).toSorted((a, b) => a - b)
  const low = found[Math.floor(found.length * 0.025)]
  const high = found[Math.floor(found.length * 0.975)]
  return low === undefined || high === undefined ? { value } : { value, low, high }
}
