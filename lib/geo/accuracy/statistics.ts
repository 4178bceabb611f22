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
  const estimate = (weigh: (tally: Tally) => Tally) =>
    estimateBy(tallies.length, newRandom, (times) => weightedMean(tallies.map(weigh), times))
  if (tallies.length === 0) return undefined
  return {
    prefixes: values.length,
    groups: tallies.length,
    perPrefix: estimate((tally) => tally),
    perGroup: estimate(({ sum, count }) => ({ sum: sum / count, count: 1 })),
  }
}

/** The medians of the values, and of the groups' medians. undefined: there are none. */
export function estimateMedian(
  values: readonly Measured[],
  newRandom: NewRandom,
): Estimates | undefined {
  const groups = groupsOf(values)
  if (groups.length === 0) return undefined
  const once = groups.map(() => 1)
  const all = sorted(groups.flatMap((own, group) => own.map((value) => ({ value, group }))))
  const medians = sorted(
    groups.map((own, group) => {
      const weighed = sorted(own.map((value) => ({ value, group })))
      return { value: weightedMedian(weighed, once), group }
    }),
  )
  return {
    prefixes: values.length,
    groups: groups.length,
    perPrefix: estimateBy(groups.length, newRandom, (times) => weightedMedian(all, times)),
    perGroup: estimateBy(groups.length, newRandom, (times) => weightedMedian(medians, times)),
  }
}

const MOST_RESAMPLES = 2_000
const LEAST_RESAMPLES = 200
/** Drawing more groups in all takes too long. Intervals of so many groups are narrow anyway. */
const MOST_DRAWS = 5_000_000

/**
 * A statistic of groups with its bootstrap interval: groups are drawn with replacement, and the interval lies
 * between the quantiles 2.5 % and 97.5 % of the statistic (Efron's percentile method). `statistic` gets how many
 * times each group counts.
 */
export function estimateBy(
  groups: number,
  newRandom: NewRandom,
  statistic: (times: readonly number[]) => number,
): Estimate {
  const value = statistic(Array<number>(groups).fill(1))
  if (groups < 2) return { value }
  const random = newRandom()
  const resamples = Math.max(
    LEAST_RESAMPLES,
    Math.min(MOST_RESAMPLES, Math.floor(MOST_DRAWS / groups)),
  )
  const found: number[] = []
  for (let resample = 0; resample < resamples; resample++) {
    const times = Array<number>(groups).fill(0)
    for (let draw = 0; draw < groups; draw++) {
      const group = Math.floor(random() * groups)
      times[group] = (times[group] ?? 0) + 1
    }
    const one = statistic(times)
    // In a resample without a value that counts there is no mean.
    if (!Number.isNaN(one)) found.push(one)
  }
  found.sort((a, b) => a - b)
  const quantile = (share: number) => found[Math.floor(found.length * share)] ?? value
  return { value, low: quantile(0.025), high: quantile(0.975) }
}

/** The sum of a group's values, and how many there are. */
interface Tally {
  readonly sum: number
  readonly count: number
}

/** NaN if nothing counts. */
export function weightedMean(tallies: readonly Tally[], times: readonly number[]): number {
  let sum = 0
  let count = 0
  for (const [at, tally] of tallies.entries()) {
    const weight = times[at] ?? 0
    sum += weight * tally.sum
    count += weight * tally.count
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
function weightedMedian(values: readonly Placed[], times: readonly number[]): number {
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
