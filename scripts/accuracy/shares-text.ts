import { isoDay } from '../parts/times.ts'
import type { Measurement } from './measurement.ts'

/** The file that the server reads for include=confidence: JSON with a line for each kind of answer. */
export function sharesText({ shares, truth, databases }: Measurement): string {
  const about = {
    date: isoDay(Date.now()),
    command: 'npm run accuracy -- truth.csv --table',
    prefixes: truth.prefixes,
    groups: truth.groups,
    databases: databases.map(({ name, built }) => `${name} of ${built}`),
  }
  const measured = new Set(shares.map(({ product }) => product))
  const order = [...new Set(databases.map(({ product }) => product))].filter((one) =>
    measured.has(one),
  )
  const rows = shares.map((row) => `    ${JSON.stringify(row)}`)
  return `${JSON.stringify({ ...about, order }, null, 2).slice(0, -2)},\n  "rows": [\n${rows.join(',\n')}\n  ]\n}\n`
}
