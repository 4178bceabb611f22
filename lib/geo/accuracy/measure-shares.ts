import {
  AGREEMENTS,
  type Basis,
  DETAILS,
  type Detail,
  type MeasuredConfidence,
} from '../place/measured-confidence.ts'
import type { Sample } from './answer.ts'
import type { Answered } from './ask.ts'
import { isCityRight, isCountryRight, isRegionRight, type MeasureOptions } from './measures.ts'

/** An answer that was compared with the truth. */
export interface Observation {
  /** What has the same causes belongs to one group, such as the networks of an operator. */
  readonly group: string
  readonly basis: Basis
  /** Whether the answer is right; undefined: the truth does not say, or the answer does not. */
  readonly right: Readonly<Record<'country', boolean> & Record<Part, boolean | undefined>>
}

export type Part = keyof MeasuredConfidence

/** The shares of right answers among those that rest on the same. */
export interface MeasuredRow extends Basis, MeasuredConfidence {}

/** Compares all answers with the truth: those of each provider alone, as if it were the only one, and the merged ones. */
export function observe(
  samples: readonly Sample[],
  { providers, merged }: Answered,
  options: Pick<MeasureOptions, 'knownRegions'>,
): Observation[] {
  return [...providers, merged].flatMap(({ answers }) =>
    samples.flatMap((sample, at) => {
      const answer = answers[at]
      if (answer?.basis === undefined) return []
      const right = {
        country: isCountryRight(sample, answer),
        region: answer.region === undefined ? undefined : isRegionRight(sample, answer, options),
        city: isCityRight(sample, answer),
      }
      return { group: sample.group, basis: answer.basis, right }
    }),
  )
}

/** Answers by which a share is drawn towards that of the more general kind of answers. */
const PRIOR_ANSWERS = 200
const LEAST = 0.01
const MOST = 0.99

/**
 * The share of right answers for every product, agreement and detail. Few answers say little, so each share is
 * drawn towards that of the same product and agreement, this towards that of the product, and this towards that
 * of all (additive smoothing). A group of n answers weighs as the root of n: else one large network would decide.
 */
export function measureShares(observations: readonly Observation[]): MeasuredRow[] {
  const country = shareOf(observations, 'country')
  const region = shareOf(observations, 'region')
  const city = shareOf(observations, 'city')
  const knowsRegion = observations.some(({ right }) => right.region !== undefined)
  const knowsCity = observations.some(({ right }) => right.city !== undefined)
  return allBases(observations).map((basis) => ({
    ...basis,
    country: country(basis),
    ...(knowsRegion && basis.detail !== 'country' && { region: region(basis) }),
    ...(knowsCity && namesCity(basis.detail) && { city: city(basis) }),
  }))
}

function allBases(observations: readonly Observation[]): Basis[] {
  const products = new Set(observations.map(({ basis }) => basis.product))
  return [...products]
    .toSorted()
    .flatMap((product) =>
      AGREEMENTS.flatMap((agreement) => DETAILS.map((detail) => ({ product, agreement, detail }))),
    )
}

function namesCity(detail: Detail): boolean {
  return detail !== 'country' && detail !== 'region'
}

/** Returns the smoothed share of answers that are right about a part. */
function shareOf(observations: readonly Observation[], part: Part) {
  const known = observations.filter(({ right }) => right[part] !== undefined)
  const weigh = weigher(known)
  const sums = new Map<string, { right: number; all: number }>()
  for (const one of known) {
    const weight = weigh(one)
    for (const key of keysOf(one.basis)) {
      const sum = sums.get(key) ?? { right: 0, all: 0 }
      sum.all += weight
      if (one.right[part]) sum.right += weight
      sums.set(key, sum)
    }
  }
  return (basis: Basis): number => {
    let share = 1
    let prior = 0
    for (const key of keysOf(basis)) {
      const { right, all } = sums.get(key) ?? { right: 0, all: 0 }
      if (all + prior > 0) share = (right + prior * share) / (all + prior)
      prior = PRIOR_ANSWERS
    }
    return Math.min(MOST, Math.max(LEAST, Math.round(share * 100) / 100))
  }
}

/** From the most general kind of answers to the most special one. */
function keysOf({ product, agreement, detail }: Basis): string[] {
  return ['', product, `${product} ${agreement}`, `${product} ${agreement} ${detail}`]
}

/** The weight of an answer: one on average. */
function weigher(observations: readonly Observation[]): (one: Observation) => number {
  const sizes = new Map<string, number>()
  for (const { group } of observations) sizes.set(group, (sizes.get(group) ?? 0) + 1)
  const roots = [...sizes.values()].reduce((sum, size) => sum + Math.sqrt(size), 0)
  const scale = observations.length / roots
  return ({ group }) => scale / Math.sqrt(sizes.get(group) ?? 1)
}
