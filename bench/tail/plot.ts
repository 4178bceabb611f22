/** Latencies of look-ups in milliseconds. */
export interface PlotRow {
  readonly name: string
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly longest: number
}

const WIDTH = 1_000
const LEFT = 260
/** Room for the figures. */
const RIGHT = 220
const TOP = 40
const ROW = 24
/** The ends of the axis in milliseconds. */
const [FROM, TO] = [0.1, 10_000]
const TICKS = [0.1, 1, 10, 100, 1_000, 10_000]

/** Draws a row as a line from the median to the longest latency, on a logarithmic axis, as SVG. */
export function drawPlot(rows: readonly PlotRow[]): string {
  const height = TOP + rows.length * ROW + 10
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13">
<title>Latencies of look-ups next to other work</title>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<text x="${LEFT}" y="14">Latency in ms: ● median, | 99 % and 99.9 %, ○ longest</text>
<text x="${WIDTH - 10}" y="14" text-anchor="end">median, 99 %, 99.9 %, longest</text>
${TICKS.map((tick) => drawTick(tick, height)).join('\n')}
${rows.map(drawRow).join('\n')}
</svg>
`
}

function drawTick(ms: number, height: number): string {
  const x = toX(ms)
  const line = `<line x1="${x}" x2="${x}" y1="${TOP}" y2="${height}" stroke="#ccc"/>`
  return `${line}<text x="${x}" y="${TOP - 6}" text-anchor="middle" fill="#555">${ms}</text>`
}

function drawRow({ name, p50, p99, p999, longest }: PlotRow, index: number): string {
  const y = TOP + (index + 0.6) * ROW
  const [first, last] = [toX(p50), toX(longest)]
  const marks = [p99, p999].map((ms) => {
    const x = toX(ms)
    return `<line x1="${x}" x2="${x}" y1="${y - 6}" y2="${y + 6}" stroke="#24557a" stroke-width="2"/>`
  })
  const figures = [p50, p99, p999, longest].map((ms) => Number(ms.toPrecision(3))).join(', ')
  return [
    `<text x="${LEFT - 12}" y="${y + 4}" text-anchor="end">${name}</text>`,
    `<line x1="${first}" x2="${last}" y1="${y}" y2="${y}" stroke="#24557a"/>`,
    `<circle cx="${first}" cy="${y}" r="4" fill="#24557a"/>`,
    ...marks,
    `<circle cx="${last}" cy="${y}" r="4" fill="#fff" stroke="#24557a"/>`,
    `<text x="${WIDTH - 10}" y="${y + 4}" text-anchor="end">${figures}</text>`,
  ].join('')
}

/** Rounded to a tenth of a pixel. */
function toX(ms: number): number {
  const share = Math.log(Math.min(TO, Math.max(FROM, ms)) / FROM) / Math.log(TO / FROM)
  return Math.round((LEFT + share * (WIDTH - LEFT - RIGHT)) * 10) / 10
}
