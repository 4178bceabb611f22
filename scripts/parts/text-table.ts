/** A plain-text table with a title line. Control characters are shown as �. */
export function textTable<Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => string>>,
  rightAligned: readonly string[] = [],
): string {
  const padded = Object.entries(columns).map(([title, toCell]) => {
    const cells = [title, ...rows.map((row) => printable(toCell(row)))]
    const width = Math.max(...cells.map((cell) => cell.length))
    const isRight = rightAligned.includes(title)
    return cells.map((cell) => (isRight ? cell.padStart(width) : cell.padEnd(width)))
  })
  const lines = ['', ...rows].map((_, at) => padded.map((cells) => cells[at]).join('  '))
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

/** Replaces control characters, because names come from users and terminals interpret controls. */
export function printable(cell: string): string {
  return cell.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '\ufffd')
}
