/** Returns a new generator of numbers from 0 to below 1: each time with the same sequence. */
export type NewRandom = () => () => number

/** A measured value of one prefix: 1 or 0 for right or wrong, or a number such as an error in km. */
export interface Measured {
  readonly group: string
  readonly value: number
}

/** A figure with its 95 % interval, which is absent if there are not at least two groups. */
export interface Estimate {
  readonly value: number
  readonly low?: number
  readonly high?: number
}

export interface Estimates {
  readonly prefixes: number
  readonly groups: number
  /** Each prefix weighs the same. */
  readonly perPrefix: Estimate
  /** Each group weighs the same. */
  readonly perGroup: Estimate
}

/** The means of the values. undefined: there are none. */
export function estimateMean(
  values: readonly Measured[],
  newRandom: NewRandom,
): Estimates | undefined {
  const tallies = talliesOf(values)
  if (tallies.length === 0) return undefined
  const means = tallies.map(({ sum, count }) => ({ sum: sum / count, count: 1 }))
  const estimates = estimateBoth(tallies.length, newRandom, {
    perPrefix: (times) => weightedMean(tallies, times),
    perGroup: (times) => weightedMean(means, times),
  })
  return { prefixes: values.length, groups: tallies.length, ...estimates }
}

/** The medians of the values, and of the groups' medians. undefined: there are none. */
export function estimateMedian(
  values: readonly Measured[],
  newRandom: NewRandom,
): Estimates | undefined {
  const groups = groupsOf(values)
  if (groups.length === 0) return undefined
  const once = onceEach(groups.length)
  const byGroup = groups.map((own, group) => sorted(own.map((value) => ({ value, group }))))
  const all = sorted(byGroup.flat())
  const medians = sorted(byGroup.map((own, group) => ({ value: weightedMedian(own, once), group })))
  const estimates = estimateBoth(groups.length, newRandom, {
    perPrefix: (times) => weightedMedian(all, times),
    perGroup: (times) => weightedMedian(medians, times),
  })
  return { prefixes: values.length, groups: groups.length, ...estimates }
}

const MOST_RESAMPLES = 2_000
const LEAST_RESAMPLES = 200
/** Drawing more groups in all takes too long. Intervals of so many groups are narrow anyway. */
const MOST_DRAWS = 5_000_000

/** Gets how many times each group counts. */
type Statistic = (times: Times) => number

/** How many times each group counts. */
type Times = Uint32Array

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
function estimateBoth(
  groups: number,
  newRandom: NewRandom,
  { perPrefix, perGroup }: { readonly perPrefix: Statistic; readonly perGroup: Statistic },
): Pick<Estimates, 'perPrefix' | 'perGroup'> {
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

function onceEach(groups: number): Times {
  return new Uint32Array(groups).fill(1)
}

function toEstimate(value: number, resampled: readonly number[]): Estimate {
  // A resample without a value that counts has no mean.
  const found = resampled.filter((one) => !Number.isNaN(one)).toSorted((a, b) => a - b)
  const low = found[Math.floor(found.length * 0.025)]
  const high = found[Math.floor(found.length * 0.975)]
  return low === undefined || high === undefined ? { value } : { value, low, high }
}

/** The sum of a group's values, and how many there are. */
interface Tally {
  readonly sum: number
  readonly count: number
}

/** NaN if nothing counts. */
export function weightedMean(tallies: readonly Tally[], times: Times): number {
  let sum = 0
  let count = 0
  let group = 0
  for (const tally of tallies) {
    const weight = times[group] ?? 0
    sum += weight * tally.sum
    count += weight * tally.count
    group += 1
  }
  return sum / count
}

interface Placed {
  readonly value: number
  readonly group: number
}

function sorted(values: Placed[]): Placed[] {
  return values.toSorted((a, b) => a.value - b.value)
}

/** The lower median. `values` are in ascending order, and each counts as often as its group. */
function weightedMedian(values: readonly Placed[], times: Times): number {
  let all = 0
  for (const { group } of values) all += times[group] ?? 0
  let before = 0
  for (const { value, group } of values) {
    before += times[group] ?? 0
    if (2 * before >= all && before > 0) return value
  }
  return Number.NaN
}

function groupsOf(values: readonly Measured[]): number[][] {
  const groups = Map.groupBy(values, ({ group }) => group)
  return [...groups.values()].map((own) => own.map(({ value }) => value))
}

function talliesOf(values: readonly Measured[]): Tally[] {
  return groupsOf(values).map((own) => ({
    sum: own.reduce((sum, value) => sum + value, 0),
    count: own.length,
  }))
}
