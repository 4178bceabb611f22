import type { Bin } from '../../lib/geo/accuracy/calibrate.ts'
import type { Calibration, ScoredSource } from '../../lib/geo/accuracy/report.ts'
import { printable, textTable } from '../parts/text-table.ts'
import type { Measurement } from './measurement.ts'
import { suggestionLines } from './suggestion-text.ts'
import {
  calibrationTitle,
  inEnglish,
  introduction,
  kilometers,
  MEASURES_SHOWN,
  percent,
  sourceName,
  TITLES,
  WEIGHTS,
  type Weight,
  weightsOf,
} from './words.ts'

/** The figures for people, as plain text. */
export function reportText(measurement: Measurement): string {
  const { truth, sources, calibration, disagreements, suggestion } = measurement
  const weights = weightsOf(truth)
  return [
    linesText(introduction(measurement)),
    ...weights.map((weight) => sourcesText(sources, weight)),
    ...calibration.map((one) => calibrationText(one, weights)),
    disagreementsText(disagreements, weights),
    ...(suggestion === undefined ? [] : [linesText(suggestionLines(suggestion, weights))]),
  ].join('\n')
}

function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${printable(line)}\n`).join('')
}

function sourcesText(sources: readonly ScoredSource[], weight: Weight): string {
  const names = MEASURES_SHOWN.filter((name) => sources.some(({ scores }) => scores[name]))
  const columns = Object.fromEntries(
    sources.map((source) => [
      sourceName(source),
      (name: (typeof names)[number]) => {
        const estimate = source.scores[name]?.[weight]
        return name === 'medianErrorKm' ? kilometers(estimate) : percent(estimate)
      },
    ]),
  )
  const title = `% right ${WEIGHTS[weight]} [95 %]`
  // Of the merged answers, which are last: providers alone may name fewer cities.
  const merged = sources.at(-1)?.scores
  const counted = weight === 'perPrefix' ? 'prefixes' : 'groups'
  const count = (name: (typeof names)[number]) => inEnglish(merged?.[name]?.[counted] ?? 0)
  return textTable(names, { [title]: (name) => TITLES[name], [counted]: count, ...columns }, [
    counted,
  ])
}

function calibrationText(calibration: Calibration, weights: readonly Weight[]): string {
  const columns = {
    stated: ({ stated }: Bin) => (stated === undefined ? 'none' : shortNumber(stated)),
    prefixes: ({ right }: Bin) => inEnglish(right.prefixes),
    ...(weights.includes('perGroup') && { groups: ({ right }: Bin) => inEnglish(right.groups) }),
    ...Object.fromEntries(
      weights.map((weight) => [
        `% right ${WEIGHTS[weight]}`,
        ({ right }: Bin) => percent(right[weight]),
      ]),
    ),
  }
  const table = textTable(calibration.bins, columns, ['prefixes', 'groups'])
  return `${calibrationTitle(calibration)}\n${table}`
}

function shortNumber(value: number): string {
  return String(Number(value.toFixed(3)))
}

function disagreementsText(
  { prefixes, right, nobody }: Measurement['disagreements'],
  weights: readonly Weight[],
): string {
  if (prefixes === 0) return 'The providers name the same country for all addresses\n'
  const rows = [...right, ...(nobody === undefined ? [] : [{ name: 'no provider', share: nobody }])]
  const table = textTable(rows, {
    'who is right': ({ name }) => name,
    ...Object.fromEntries(
      weights.map((weight) => [
        `% ${WEIGHTS[weight]} [95 %]`,
        ({ share }: (typeof rows)[number]) => percent(share[weight]),
      ]),
    ),
  })
  return `Addresses for which the providers name different countries: ${inEnglish(prefixes)}\n${table}`
}
