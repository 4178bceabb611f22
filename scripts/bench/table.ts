/** A Markdown table; numbers stand to the right. */
export function markdownTable(
  titles: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const aligns = titles.map((_, at) => (typeof rows[0]?.[at] === 'number' ? '---:' : '---'))
  return [titles, aligns, ...rows.map((row) => row.map(shown))]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('')
}

/** Three significant digits, or whole numbers. */
function shown(cell: string | number): string {
  if (typeof cell === 'string') return cell
  if (!Number.isFinite(cell)) return '–'
  return cell >= 100
    ? Math.round(cell).toLocaleString('en-US')
    : String(Number(cell.toPrecision(3)))
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const upper = sorted[Math.floor(middle)] ?? Number.NaN
  const lower = sorted[Math.ceil(middle) - 1] ?? Number.NaN
  return (lower + upper) / 2
}
