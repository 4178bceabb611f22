import uPlot from 'uplot'

const HEIGHT = 240
/** Between the values of an axis and the chart, in pixels. */
const TICK = 4
const GAP = 5

export type Color = (name: string) => string

/** Reads the colours of the style sheet in the current colour scheme. */
export function readColors(element: HTMLElement): Color {
  const style = getComputedStyle(element)
  return (name) => style.getPropertyValue(name).trim()
}

/** What all charts by time have in common. */
export function baseOptions(holder: HTMLElement) {
  const color = readColors(holder)
  const font = `12px ${getComputedStyle(holder).fontFamily}`
  const axis = {
    stroke: color('--ink-soft'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { stroke: color('--line'), width: 1, size: TICK },
    gap: GAP,
    font,
  }
  return {
    width: holder.clientWidth,
    height: HEIGHT,
    tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    hooks: { init: [describe], setSeries: [markShown] },
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    axes: {
      time: { ...axis, values: (_: uPlot, splits: number[]) => splits.map(toTimeText) },
      value: { ...axis, size: (u: uPlot, values: string[] | null) => widthOf(u, values, font) },
    },
  }
}

/** The name of a series in the legend. A click shows or hides the series: uPlot listens to its cell. */
export function legendButton(name: string, isShown: boolean): HTMLElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = name
  button.ariaPressed = String(isShown)
  return button
}

/** The canvas is a picture, while the legend beside it can be used. */
function describe({ ctx: { canvas } }: uPlot): void {
  canvas.setAttribute('role', 'img')
  canvas.setAttribute('aria-label', 'Chart of the table below')
}

function markShown({ series }: uPlot): void {
  for (const { label, show } of series) {
    if (label instanceof HTMLElement) label.ariaPressed = String(show)
  }
}

/** The room that the values beside an axis need, in pixels. */
function widthOf({ ctx }: uPlot, values: string[] | null, font: string): number {
  ctx.font = font
  const widths = (values ?? []).map((value) => ctx.measureText(value).width)
  return Math.ceil(Math.max(0, ...widths)) + TICK + GAP
}

/** The time of day, or the date at midnight. */
function toTimeText(seconds: number): string {
  const time = new Date(seconds * 1000).toISOString()
  return time.slice(11, 16) === '00:00' ? time.slice(5, 10) : time.slice(11, 16)
}

/** Draws the chart, and again when colours or its width change, until it leaves the page. */
export function keepDrawn(holder: HTMLElement, make: () => uPlot): void {
  let chart = make()
  const gone = new AbortController()
  const ifShown = (update: () => void) => () => {
    if (holder.isConnected) return update()
    observer.disconnect()
    gone.abort()
  }
  const redraw = ifShown(() => {
    chart.destroy()
    chart = make()
  })
  const resize = ifShown(() => chart.setSize({ width: holder.clientWidth, height: HEIGHT }))
  const observer = new ResizeObserver(resize)
  observer.observe(holder)
  const { signal } = gone
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw, { signal })
}
