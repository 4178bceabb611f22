import { jsonText } from '../parts/json-text.ts'
import { run } from '../parts/run.ts'
import { printable, textTable } from '../parts/text-table.ts'
import { isoDay } from '../parts/times.ts'
import { type Measurement, measure } from './measurement.ts'
import { readTask, type Task } from './options.ts'
import { writeAccuracyPage } from './page.tsx'
import { suggestionLines } from './suggestion-text.ts'
import { COUNTS, type FigureTable, makeTables } from './tables.ts'
import { introduction, weightsOf } from './words.ts'

await run(async () => {
  const task = readTask()
  const measurement = await measure(task)
  if (task.html !== undefined) await writeAccuracyPage(task.html, measurement)
  process.stdout.write(textOf(task, measurement))
})

function textOf({ json, table }: Task, measurement: Measurement): string {
  if (table) return sharesText(measurement)
  return json ? jsonText(measurement) : reportText(measurement)
}

/** The figures for people, as plain text. */
function reportText(measurement: Measurement): string {
  const { sources, calibration, disagreements } = makeTables(measurement)
  const { truth, suggestion } = measurement
  return [
    linesText(introduction(measurement)),
    ...[...sources, ...calibration, disagreements].map(tableText),
    ...(suggestion === undefined ? [] : [linesText(suggestionLines(suggestion, weightsOf(truth)))]),
  ].join('\n')
}

function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${printable(line)}\n`).join('')
}

function tableText({ title, heads, rows }: FigureTable): string {
  if (rows.length === 0) return `${title}\n`
  const columns = heads.map(
    (head, at) => [head, (cells: readonly string[]) => cells[at] ?? ''] as const,
  )
  return `${title}\n${textTable(rows, Object.fromEntries(columns), Object.values(COUNTS))}`
}

/** The file that the server reads for include=confidence: JSON with a line for each kind of answer. */
function sharesText({ shares, truth, databases }: Measurement): string {
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
