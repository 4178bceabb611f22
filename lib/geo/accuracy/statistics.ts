import { type Estimate, estimateBoth, type NewRandom, onceEach, type Times } from './bootstrap.ts'

/** A measured value of one prefix: 1 or 0 for right or wrong, or a number such as an error in km. */
export interface Measured {
  readonly group: string
  readonly value: number
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
