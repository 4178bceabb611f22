import * as v from 'valibot'
import { HANDLED_EVENTS } from '../../lib/billing/stripe/events.ts'
import { Environment } from '../../lib/config/environment.ts'
import { readPlans } from '../../lib/config/plans.ts'

const BEGIN = '<!-- Made by npm run docs -->\n\n'
const END = '\n<!-- End -->'

/** The documents with a part that follows from code, and the function that makes this part. */
export const GENERATED_PARTS: Readonly<Record<string, () => string>> = {
  'docs/api.md': plansTable,
  'docs/billing.md': () => `\`\`\`\n${HANDLED_EVENTS.join('\n')}\n\`\`\`\n`,
  'docs/configuration.md': settingsTable,
}

/** Replaces the text between the two comments in a document. Throws if they are missing. */
export function withPart(document: string, part: string): string {
  const begin = document.indexOf(BEGIN)
  const end = document.indexOf(END, begin)
  if (begin < 0 || end < 0) throw new Error(`Cannot find ${BEGIN.trim()} and ${END.trim()}`)
  return document.slice(0, begin) + BEGIN + part + document.slice(end)
}

function settingsTable(): string {
  const rows = Object.entries(Environment.entries).map(([name, schema]) => {
    const standard = v.getDefault(schema) ?? ''
    const meaning = v.getDescription(schema.wrapped) ?? ''
    return [`\`${name}\``, meaning, standard === '' ? '' : `\`${standard}\``]
  })
  return markdownTable(['Variable', 'Meaning', 'Default'], rows)
}

function plansTable(): string {
  const rows = readPlans(undefined).list.map((plan) => [
    plan.id,
    ...[plan.requestsPerMinute, plan.monthlyCap, plan.maxKeys, plan.maxSites, plan.price].map(
      (count) => count.toLocaleString('en'),
    ),
  ])
  return markdownTable(
    ['Plan', 'Requests per minute and key', 'Requests per month', 'Keys', 'Sites', 'Price'],
    rows,
  )
}

/** Columns of numbers are aligned to the right. */
function markdownTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const columns = titles.map((title, at) => {
    const cells = rows.map((row) => row[at] ?? '')
    const width = Math.max(...[title, ...cells].map((cell) => cell.length))
    return cells.every((cell) => /^[\d,.]+$/.test(cell))
      ? [title, `${'-'.repeat(width - 1)}:`, ...cells].map((cell) => cell.padStart(width))
      : [title, '-'.repeat(width), ...cells].map((cell) => cell.padEnd(width))
  })
  const lines = ['', '', ...rows].map((_, at) => columns.map((cells) => cells[at]).join(' | '))
  return lines.map((line) => `| ${line} |\n`).join('')
}
