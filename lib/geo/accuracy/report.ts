import { type Answer, createHasOffsetsOf, type Sample } from './answer.ts'
import type { Answered } from './ask.ts'
import type { NewRandom } from './bootstrap.ts'
import { type Bin, type Claim, calibrateByTenth, calibrateByValue } from './calibrate.ts'
import { findDisagreements, type Source } from './disagreements.ts'
import {
  errorKm,
  isCityRight,
  isCountryRight,
  isRegionRight,
  type MeasureOptions,
  type Scores,
  score,
} from './measures.ts'

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
    calibration: calibrations(samples, answered, options),
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
  readonly about: 'country' | 'region, if named' | 'city within 50 km, if named'
  readonly bins: readonly Bin[]
}

function calibrations(
  samples: readonly Sample[],
  { merged, geoConfidence, measured }: Answered,
  { newRandom, knownRegions }: Pick<MeasureOptions, 'newRandom' | 'knownRegions'>,
): Calibration[] {
  const claims = (
    stated: (at: number) => number | undefined,
    isRight: (sample: Sample, answer: Answer) => boolean | undefined,
  ): Claim[] =>
    samples.flatMap((sample, at) => {
      const answer = merged.answers[at]
      const right = answer && isRight(sample, answer)
      return right === undefined ? [] : { stated: stated(at), isRight: right, group: sample.group }
    })
  const agreement = (at: number) => geoConfidence[at]
  const isNamedRegionRight = (sample: Sample, answer: Answer) =>
    answer.region === undefined ? undefined : isRegionRight(sample, answer, { knownRegions })
  const all: readonly Calibration[] = [
    {
      stated: 'geoConfidence',
      about: 'country',
      bins: calibrateByValue(claims(agreement, isCountryRight), newRandom),
    },
    {
      stated: 'geoConfidence',
      about: 'city within 50 km, if named',
      bins: calibrateByValue(claims(agreement, isCityRight), newRandom),
    },
    {
      stated: 'confidence.country',
      about: 'country',
      bins: calibrateByTenth(
        claims((at) => measured[at]?.country, isCountryRight),
        newRandom,
      ),
    },
    {
      stated: 'confidence.region',
      about: 'region, if named',
      bins: calibrateByTenth(
        claims((at) => measured[at]?.region, isNamedRegionRight),
        newRandom,
      ),
    },
    {
      stated: 'confidence.city',
      about: 'city within 50 km, if named',
      bins: calibrateByTenth(
        claims((at) => measured[at]?.city, isCityRight),
        newRandom,
      ),
    },
  ]
  return all.filter(({ bins }) => bins.length > 0)
}
