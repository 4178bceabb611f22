import { distanceKm } from '../place/distance.ts'
import type { Coordinates } from '../place/finding.ts'
import type { Answer, Sample } from './answer.ts'
import type { NewRandom } from './bootstrap.ts'
import { type Estimates, estimateMean, estimateMedian, type Measured } from './statistics.ts'

/** Truth is the centre of a city, and an address may be anywhere in it. */
const ALLOWANCE_KM = 25
export const CITY_KM = 50
const KM_PER_MILE = 1.609344

export interface MeasureOptions {
  /** The region codes that answers can have. Truth of another level, such as provinces, is not compared. */
  readonly knownRegions: ReadonlySet<string>
  readonly hasOffsetsOf: (zone: string, coordinates: Coordinates) => boolean
  readonly newRandom: NewRandom
}

/** undefined: the row or the answer does not count here. */
type Measure = (
  sample: Sample,
  answer: Answer,
  options: MeasureOptions,
) => boolean | number | undefined

/** In the order in which they are shown. A missing city counts as wrong unless the name says otherwise. */
export const MEASURES = {
  country: isCountryRight,
  region: isRegionRight,
  namesCity: ({ coordinates }, { city }) => coordinates && city !== undefined,
  within25Km: within(25),
  within50Km: within(CITY_KM),
  within100Km: within(100),
  within50KmIfNamed: isCityRight,
  timezone: ({ coordinates }, { timezone }, { hasOffsetsOf }) =>
    coordinates && timezone !== undefined && hasOffsetsOf(timezone, coordinates),
  insideRadius: insideRadius(0),
  insideRadiusAndAllowance: insideRadius(ALLOWANCE_KM),
} as const satisfies Readonly<Record<string, Measure>>

export type MeasureName = keyof typeof MEASURES
const MEASURE_NAMES = Object.keys(MEASURES) as MeasureName[] // safe: its own keys

/** Shares from 0 to 1 of each measure that applies to at least one row; the median error is in km. */
export type Scores = { readonly [name in MeasureName]?: Estimates } & {
  /** Only of answers with a city. */
  readonly medianErrorKm?: Estimates
}

/** `answers` belong to the samples at the same index. */
export function score(
  samples: readonly Sample[],
  answers: readonly Answer[],
  options: MeasureOptions,
): Scores {
  const shares = MEASURE_NAMES.flatMap((name) => {
    const values = valuesOf(samples, answers, (sample, answer) =>
      MEASURES[name](sample, answer, options),
    )
    const estimates = estimateMean(values, options.newRandom)
    return estimates === undefined ? [] : [[name, estimates] as const]
  })
  const medianErrorKm = estimateMedian(valuesOf(samples, answers, errorKm), options.newRandom)
  return { ...Object.fromEntries(shares), ...(medianErrorKm && { medianErrorKm }) }
}

/** The values of the rows that count. */
function valuesOf(
  samples: readonly Sample[],
  answers: readonly Answer[],
  measure: (sample: Sample, answer: Answer) => boolean | number | undefined,
): Measured[] {
  return samples.flatMap((sample, at) => {
    const answer = answers[at]
    const value = answer && measure(sample, answer)
    return value === undefined ? [] : [{ group: sample.group, value: Number(value) }]
  })
}

export function isCountryRight({ country }: Sample, answer: Answer): boolean {
  return answer.country === country
}

/** undefined if the truth has no region of the level that answers have. */
export function isRegionRight(
  { region }: Sample,
  answer: Answer,
  { knownRegions }: Pick<MeasureOptions, 'knownRegions'>,
): boolean | undefined {
  return region !== undefined && knownRegions.has(region) ? answer.region === region : undefined
}

/** Whether the answer's city is within 50 km; undefined if the truth or the answer names none. */
export function isCityRight(sample: Sample, answer: Answer): boolean | undefined {
  const error = errorKm(sample, answer)
  return error === undefined ? undefined : error <= CITY_KM
}

/** The distance from the true city to the answer's; undefined if one of the two is missing. */
export function errorKm({ coordinates }: Sample, { city }: Answer): number | undefined {
  return coordinates && city && distanceKm(coordinates, city)
}

function within(km: number): Measure {
  return (sample, answer) =>
    sample.coordinates && (errorKm(sample, answer) ?? Number.POSITIVE_INFINITY) <= km
}

function insideRadius(allowanceKm: number): Measure {
  return (sample, answer) => {
    const radius = answer.city?.accuracyRadius
    const error = errorKm(sample, answer)
    if (radius === undefined || error === undefined) return undefined
    return error <= radius * KM_PER_MILE + allowanceKm
  }
}
