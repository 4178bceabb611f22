import type { Scale } from './plot-scale.ts'

/** Panels side by side with the same y axis and the same lines. */
export interface Row {
  /** What the y axis shows, with its unit. */
  readonly title: string
  readonly y: Scale
  /** Names of at most two lines. */
  readonly lines: readonly string[]
  readonly panels: readonly Panel[]
}

export interface Panel {
  /** What the x axis shows, with its unit. */
  readonly title: string
  readonly x: Scale
  readonly xs: readonly number[]
  /** The values of each line, one for each x. */
  readonly ys: readonly (readonly number[])[]
}

const WIDTH = 300
const HEIGHT = 220
/** Around the plot of each panel. */
const LEFT = 48
const RIGHT = 20
const TOP = 44
const BOTTOM = 44
const PLOT_WIDTH = WIDTH - LEFT - RIGHT
const PLOT_HEIGHT = HEIGHT - TOP - BOTTOM
/** Behind the longest title of a row. */
const LEGEND_LEFT = 340
const LEGEND_WIDTH = 150

/** The second line is told from the first by more than its colour. */
const CLASSES = ['first', 'second']

const STYLE = `
svg { --page: #fff; --text: #1f2328; --grid: #d1d9e0; --first: #0550ae; --second: #bc4c00 }
@media (prefers-color-scheme: dark) {
  svg { --page: #0d1117; --text: #e6edf3; --grid: #3d444d; --first: #6cb6ff; --second: #ffa657 }
}
text { font: 12px system-ui, sans-serif; fill: var(--text) }
.title { font-weight: 600 }
.middle { text-anchor: middle }
.end { text-anchor: end }
.page { fill: var(--page) }
.grid { stroke: var(--grid) }
.line { fill: none; stroke-width: 2 }
.dot { fill: var(--page); stroke-width: 2 }
.first { stroke: var(--first) }
.second { stroke: var(--second) }
.line.second { stroke-dasharray: 5 4 }
.dot.first { fill: var(--first) }
`

/** An SVG image of the rows, one below the other, in the colours that the reader prefers. */
export function plot(title: string, rows: readonly Row[]): string {
  const width = WIDTH * Math.max(...rows.map(({ panels }) => panels.length))
  const height = HEIGHT * rows.length
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">
<title>${escapeText(title)}</title>
<style>${STYLE}</style>
<rect class="page" width="${width}" height="${height}"/>
${rows.map((row, n) => group(0, n * HEIGHT, drawRow(row))).join('\n')}
</svg>
`
}

function drawRow({ title, y, lines, panels }: Row): string {
  const legend = lines.map((name, n) =>
    group(LEGEND_LEFT + n * LEGEND_WIDTH, 18, drawName(name, n)),
  )
  const drawn = panels.map((panel, n) => group(n * WIDTH, 0, drawPanel(panel, y)))
  return [text(LEFT, 22, title, 'title'), ...legend, ...drawn].join('\n')
}

function drawName(name: string, n: number): string {
  return drawLine([LEFT, LEFT + 32], [0, 0], n) + text(LEFT + 42, 4, name)
}

function drawPanel({ title, x, xs, ys }: Panel, y: Scale): string {
  const across = (value: number) => LEFT + x.place(value) * PLOT_WIDTH
  const down = (value: number) => TOP + (1 - y.place(value)) * PLOT_HEIGHT
  const marks = [
    ...y.ticks.map((tick) => drawYTick(down(tick), tick)),
    ...x.ticks.map((tick) => text(across(tick), HEIGHT - BOTTOM + 18, shown(tick), 'middle')),
    text(LEFT + PLOT_WIDTH / 2, HEIGHT - BOTTOM + 36, title, 'middle'),
  ]
  return [...marks, ...ys.map((values, n) => drawLine(xs.map(across), values.map(down), n))].join(
    '\n',
  )
}

function drawYTick(at: number, tick: number): string {
  const line = `<path class="grid" d="M${LEFT} ${rounded(at)}h${PLOT_WIDTH}"/>`
  return line + text(LEFT - 8, at + 4, shown(tick), 'end')
}

/** A dot at each place and a line through them. */
function drawLine(xs: readonly number[], ys: readonly number[], n: number): string {
  const places = xs
    .map((x, at) => [rounded(x), rounded(ys[at] ?? Number.NaN)] as const)
    .filter(([, y]) => Number.isFinite(y))
  const dots = places.map(
    ([x, y]) => `<circle class="dot ${CLASSES[n]}" cx="${x}" cy="${y}" r="3.5"/>`,
  )
  const path = places.map(([x, y]) => `${x} ${y}`).join('L')
  return `<path class="line ${CLASSES[n]}" d="M${path}"/>${dots.join('')}`
}

function text(x: number, y: number, content: string, style = ''): string {
  const place = `x="${rounded(x)}" y="${rounded(y)}"`
  return `<text ${place} class="${style}">${escapeText(content)}</text>`
}

function group(x: number, y: number, content: string): string {
  return `<g transform="translate(${x} ${y})">\n${content}\n</g>`
}

function shown(value: number): string {
  const notation = value < 10_000 ? 'standard' : 'compact'
  return value.toLocaleString('en-US', { notation, maximumSignificantDigits: 3 })
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}

function escapeText(content: string): string {
  return content.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
