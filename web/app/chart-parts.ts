import uPlot, { type Padding, type Series } from 'uplot'
import { clockText, dayText } from '../../pages/time-text.ts'

const HEIGHT = 240
/** Between the values of an axis and the chart, in pixels. */
const TICK = 4
const GAP = 5
/** The height of the axis of times. */
const TIMES_HEIGHT = 28

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
  let overhang = 0
  return {
    width: holder.clientWidth,
    height: HEIGHT,
    // To the right, only as much as the last time hangs over.
    padding: [null, () => overhang, null, null] satisfies Padding,
    tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    hooks: { init: [describe], setSeries: [markShown] },
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    axes: {
      time: {
        ...axis,
        size: TIMES_HEIGHT,
        values: (u: uPlot, splits: number[]) => {
          const texts = splits.map(toTimeText)
          overhang = overhangOf(u, splits.at(-1), widthOf(u, texts.slice(-1), font))
          return texts
        },
      },
      value: {
        ...axis,
        size: (u: uPlot, values: string[] | null) => widthOf(u, values ?? [], font) + TICK + GAP,
      },
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

/** The time under the pointer, in the legend. */
export function timeSeries(toText: (at: number, now: number) => string): Series {
  return {
    label: 'UTC',
    value: (_, seconds: number | null) =>
      seconds === null ? '–' : toText(seconds * 1000, Date.now()),
  }
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

/** The width of the widest text, in pixels. */
function widthOf({ ctx }: uPlot, texts: readonly string[], font: string): number {
  ctx.font = font
  return Math.ceil(Math.max(0, ...texts.map((text) => ctx.measureText(text).width)))
}

/** How far a text below a time reaches beyond the end of the plot, in pixels. */
function overhangOf({ scales, valToPos }: uPlot, time: number | undefined, width: number) {
  const end = scales['x']?.max
  if (time === undefined || end === undefined) return 0
  return Math.max(0, Math.ceil(width / 2 - (valToPos(end, 'x') - valToPos(time, 'x'))))
}

/** The time of day, or the date at midnight. */
function toTimeText(seconds: number): string {
  const at = seconds * 1000
  const clock = clockText(at)
  return clock === '00:00' ? dayText(at, at) : clock
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
