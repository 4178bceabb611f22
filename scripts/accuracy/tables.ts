import type { Bin } from '../../lib/geo/accuracy/calibrate.ts'
import type { Calibration, ScoredSource } from '../../lib/geo/accuracy/report.ts'
import type { Measurement } from './measurement.ts'
import {
  calibrationTitle,
  inEnglish,
  kilometers,
  MEASURES_SHOWN,
  percent,
  sourceName,
  TITLES,
  WEIGHTS,
  type Weight,
  weightsOf,
} from './words.ts'

/** A table for people, as text or on a page. */
export interface FigureTable {
  readonly title: string
  readonly heads: readonly string[]
  /** Each row has a cell for each head. */
  readonly rows: readonly (readonly string[])[]
}

export interface FigureTables {
  readonly sources: readonly FigureTable[]
  readonly calibration: readonly FigureTable[]
  readonly disagreements: FigureTable
}

/** All figures. */
export function makeTables({
  truth,
  sources,
  calibration,
  disagreements,
}: Measurement): FigureTables {
  const weights = weightsOf(truth)
  return {
    sources: weights.map((weight) => sourcesTable(sources, weight)),
    calibration: calibration.map((one) => calibrationTable(one, weights)),
    disagreements: disagreementsTable(disagreements, weights),
  }
}

/** The head of columns with numbers of prefixes or groups. */
export const COUNTS = { perPrefix: 'prefixes', perGroup: 'groups' } as const

function sourcesTable(sources: readonly ScoredSource[], weight: Weight): FigureTable {
  const names = MEASURES_SHOWN.filter((name) => sources.some(({ scores }) => scores[name]))
  // Of the merged answers, which are last: providers alone may name fewer cities.
  const merged = sources.at(-1)?.scores
  return {
    title: `Right, % ${WEIGHTS[weight]}, with 95 % intervals`,
    heads: ['measure', COUNTS[weight], ...sources.map(sourceName)],
    rows: names.map((name) => [
      TITLES[name],
      inEnglish(merged?.[name]?.[COUNTS[weight]] ?? 0),
      ...sources.map(({ scores }) => {
        const estimate = scores[name]?.[weight]
        return name === 'medianErrorKm' ? kilometers(estimate) : percent(estimate)
      }),
    ]),
  }
}

function calibrationTable(calibration: Calibration, weights: readonly Weight[]): FigureTable {
  return {
    title: calibrationTitle(calibration),
    heads: [
      'stated',
      ...weights.map((weight) => COUNTS[weight]),
      ...weights.map((weight) => `% right ${WEIGHTS[weight]}`),
    ],
    rows: calibration.bins.map(({ stated, right }: Bin) => [
      stated === undefined ? 'none' : String(Number(stated.toFixed(3))),
      ...weights.map((weight) => inEnglish(right[COUNTS[weight]])),
      ...weights.map((weight) => percent(right[weight])),
    ]),
  }
}

function disagreementsTable(
  { prefixes, right, nobody }: Measurement['disagreements'],
  weights: readonly Weight[],
): FigureTable {
  const shares = nobody === undefined ? right : [...right, { name: 'no provider', share: nobody }]
  return {
    title: `Addresses for which providers name different countries: ${inEnglish(prefixes)}`,
    heads: ['who is right', ...weights.map((weight) => `% ${WEIGHTS[weight]}`)],
    rows: shares.map(({ name, share }) => [
      name,
      ...weights.map((weight) => percent(share[weight])),
    ]),
  }
}
