import type { Answer, Sample } from './answer.ts'
import { type Estimate, estimateBy, type NewRandom, onceEach, type Times } from './bootstrap.ts'
import { CITY_KM, errorKm } from './measures.ts'
import { type Estimates, estimateMean, weightedMean } from './statistics.ts'

/** With six providers there would be 720 orders. */
const MOST_PERMUTED = 5

/**
 * Lists all orders of the names, the present one first. Of more than five names, those after the fifth stay where
 * they are; `isBounded` says so.
 */
export function listOrders(names: readonly string[]): {
  readonly orders: readonly (readonly string[])[]
  readonly isBounded: boolean
} {
  const rest = names.slice(MOST_PERMUTED)
  const orders = permutations(names.slice(0, MOST_PERMUTED)).map((first) => [...first, ...rest])
  return { orders, isBounded: rest.length > 0 }
}

function permutations(names: readonly string[]): string[][] {
  if (names.length === 0) return [[]]
  return names.flatMap((first, at) =>
    permutations(names.toSpliced(at, 1)).map((rest) => [first, ...rest]),
  )
}

/** By how much other answers are better: differences of shares, from -1 to 1. */
export interface Gain {
  readonly country: Estimates
  /** Absent if no row has coordinates. */
  readonly within50Km?: Estimates
  /** The mean of these figures, per prefix and per group. Orders are compared by it. */
  readonly overall: Estimate
}

interface Change {
  readonly group: string
  readonly country: number
  /** undefined: the row has no coordinates. */
  readonly city: number | undefined
}

/** Compares two lists of answers to the same samples. undefined: there are no samples. */
export function gainOf(
  samples: readonly Sample[],
  { present, other }: { readonly present: readonly Answer[]; readonly other: readonly Answer[] },
  newRandom: NewRandom,
): Gain | undefined {
  const changes = changesOf(samples, present, other)
  const country = estimateMean(
    changes.map(({ group, country: value }) => ({ group, value })),
    newRandom,
  )
  const within50Km = estimateMean(
    changes.flatMap(({ group, city: value }) => (value === undefined ? [] : [{ group, value }])),
    newRandom,
  )
  if (country === undefined) return undefined
  return { country, ...(within50Km && { within50Km }), overall: overallGain(changes, newRandom) }
}

/** The `overall` of `gainOf` alone, which is found much faster. */
export function pointGainOf(
  samples: readonly Sample[],
  present: readonly Answer[],
  other: readonly Answer[],
): number {
  const figures = figuresOf(changesOf(samples, present, other))
  return figures.all(onceEach(figures.groups.length))
}

function changesOf(
  samples: readonly Sample[],
  present: readonly Answer[],
  other: readonly Answer[],
): Change[] {
  return samples.flatMap((sample, at) => {
    const [before, after] = [present[at], other[at]]
    if (before === undefined || after === undefined) return []
    const isRight = (answer: Answer) => Number(answer.country === sample.country)
    const isNear = (answer: Answer) =>
      Number((errorKm(sample, answer) ?? Number.POSITIVE_INFINITY) <= CITY_KM)
    return {
      group: sample.group,
      country: isRight(after) - isRight(before),
      city: sample.coordinates && isNear(after) - isNear(before),
    }
  })
}

function overallGain(changes: readonly Change[], newRandom: NewRandom): Estimate {
  const { groups, all } = figuresOf(changes)
  return estimateBy(groups.length, newRandom, all)
}

/** The mean of up to four figures, all from the same resample of groups. */
function figuresOf(changes: readonly Change[]) {
  const groups = [...Map.groupBy(changes, ({ group }) => group).values()]
  const tallies = (toValue: (change: Change) => number | undefined) =>
    groups.map((own) => {
      const values = own.flatMap((change) => toValue(change) ?? [])
      return { sum: values.reduce((sum, value) => sum + value, 0), count: values.length }
    })
  const parts = [tallies(({ country }) => country), tallies(({ city }) => city)].flatMap((own) => [
    own,
    own.map(({ sum, count }) => (count === 0 ? NOTHING : { sum: sum / count, count: 1 })),
  ])
  const counted = parts.filter((own) => own.some(({ count }) => count > 0))
  return {
    groups,
    all: (times: Times) => {
      const means = counted.map((own) => weightedMean(own, times))
      return means.reduce((sum, mean) => sum + mean, 0) / means.length
    },
  }
}

const NOTHING = { sum: 0, count: 0 }
