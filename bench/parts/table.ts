/** The cells of a table row, by the titles of their columns. */
export type Row = Readonly<Record<string, string | number>>

/** Prints a Markdown table under an optional heading. Numbers are aligned to the right. */
export function printTable(rows: readonly Row[], heading?: string): void {
  const [first = {}] = rows
  const aligns = Object.values(first).map((cell) => (typeof cell === 'number' ? '---:' : '---'))
  const cells = rows.map((row) => Object.values(row).map(toText))
  const lines = [Object.keys(first), aligns, ...cells].map((line) => `| ${line.join(' | ')} |\n`)
  const start = heading === undefined ? '\n' : `\n### ${heading}\n\n`
  process.stdout.write(start + lines.join(''))
}

/** Three significant digits below 100, whole numbers above. */
function toText(cell: string | number): string {
  if (typeof cell === 'string') return cell
  if (!Number.isFinite(cell)) return '–'
  return cell >= 100
    ? Math.round(cell).toLocaleString('en-US')
    : String(Number(cell.toPrecision(3)))
}
