export interface Column {
  readonly title: string
  readonly align: 'left' | 'right'
}

/** Plain lines in columns, the titles first. What would break a line or a terminal is shown as �. */
export function textTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): string {
  const lines = [columns.map(({ title }) => title), ...rows.map((cells) => cells.map(printable))]
  const widths = columns.map((_, at) => Math.max(...lines.map((cells) => cells[at]?.length ?? 0)))
  const pad = (cells: readonly string[]) =>
    columns.map(({ align }, at) => {
      const [cell = '', width = 0] = [cells[at], widths[at]]
      return align === 'right' ? cell.padStart(width) : cell.padEnd(width)
    })
  return lines.map((cells) => `${pad(cells).join('  ').trimEnd()}\n`).join('')
}

/** Names come from users: without characters that a terminal would obey. */
export function printable(cell: string): string {
  return cell.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '\ufffd')
}
