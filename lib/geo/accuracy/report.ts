import { type Answer, createHasOffsetsOf, type Sample } from './answer.ts'
import type { Answered } from './ask.ts'
import type { NewRandom } from './bootstrap.ts'
import { type Bin, type Claim, calibrateByValue } from './calibrate.ts'
import { findDisagreements, type Source } from './disagreements.ts'
import { CITY_KM, errorKm, type MeasureOptions, type Scores, score } from './measures.ts'

export interface ReportOptions {
  readonly knownRegions: ReadonlySet<string>
  /** The year whose offsets from UTC are compared. */
  readonly year: number
  readonly newRandom: NewRandom
}

/** All figures. Shares are from 0 to 1. */
export function makeReport(
  samples: readonly Sample[],
  answered: Answered,
  { knownRegions, year, newRandom }: ReportOptions,
) {
  const options = { knownRegions, hasOffsetsOf: createHasOffsetsOf(year), newRandom }
  const { providers, merged } = answered
  return {
    sources: [...providers, merged].map((source) => toScored(samples, source, options)),
    calibration: calibrations(samples, answered, newRandom),
    disagreements: findDisagreements(samples, answered, newRandom),
  }
}

export interface ScoredSource {
  readonly name: string
  readonly scores: Scores
  /** The errors of the answers with a city: for each distance, the share of all true cities within it. */
  readonly within: readonly { readonly km: number; readonly share: number }[]
}

const DISTANCES_KM = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 20_100]

function toScored(
  samples: readonly Sample[],
  { name, answers }: Source,
  options: MeasureOptions,
): ScoredSource {
  const located = samples.filter(({ coordinates }) => coordinates !== undefined).length
  const errors = samples.flatMap((sample, at) => {
    const answer = answers[at]
    return (answer && errorKm(sample, answer)) ?? []
  })
  return {
    name,
    scores: score(samples, answers, options),
    within:
      located === 0
        ? []
        : DISTANCES_KM.map((km) => ({ km, share: shareWithin(errors, km, located) })),
  }
}

function shareWithin(errors: readonly number[], km: number, located: number): number {
  return errors.filter((error) => error <= km).length / located
}

/** How far what answers say about themselves is true. */
export interface Calibration {
  /** The field of the answer. */
  readonly stated: string
  /** What is right or wrong. */
  readonly about: 'country' | 'city within 50 km, if named'
  readonly bins: readonly Bin[]
}

function calibrations(
  samples: readonly Sample[],
  { merged, geoConfidence }: Answered,
  newRandom: NewRandom,
): Calibration[] {
  const claims = (isRight: (sample: Sample, answer: Answer) => boolean | undefined): Claim[] =>
    samples.flatMap((sample, at) => {
      const answer = merged.answers[at]
      const right = answer && isRight(sample, answer)
      if (right === undefined) return []
      return { stated: geoConfidence[at], isRight: right, group: sample.group }
    })
  const country = claims((sample, answer) => answer.country === sample.country)
  const city = claims((sample, answer) => {
    const error = errorKm(sample, answer)
    return error === undefined ? undefined : error <= CITY_KM
  })
  const all: readonly Calibration[] = [
    { stated: 'geoConfidence', about: 'country', bins: calibrateByValue(country, newRandom) },
    {
      stated: 'geoConfidence',
      about: 'city within 50 km, if named',
      bins: calibrateByValue(city, newRandom),
    },
  ]
  return all.filter(({ bins }) => bins.length > 0)
}
