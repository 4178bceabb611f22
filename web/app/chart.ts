import uPlot, { type Options, type Series } from 'uplot'
import { dayText, minuteText } from '../../pages/time-text.ts'
import { baseOptions, type Color, legendButton, readColors, timeSeries } from './chart-parts.ts'
import { type Columns, findUnsure, listIsolated } from './timeline.ts'

export interface ChartLook {
  readonly good: number
  readonly poor: number
  /** Seconds from one value to the next. */
  readonly step: number
  /** Seconds since 1970-01-01. */
  readonly now: number
  /** Formats a value as the page does. */
  readonly toText: (value: number) => string
}

const DAY_SECONDS = 86_400
/** Steps of an axis of whole days. */
const DAYS = [1, 2, 7, 14, 28].map((days) => days * DAY_SECONDS)

/** The share of the height for the bars that count the values. */
const BARS_SHARE = 1 / 4

/** Of the line to and from steps whose values are unsure. */
const DASH_PIXELS = 5

/**
 * Draws p75 over the thresholds, dashed where chance moves it, and the number of values as faint bars. A click on
 * the legend adds p50 or p95.
 */
export function drawChart(holder: HTMLElement, columns: Columns, look: ChartLook): uPlot {
  const color = readColors(holder)
  const { axes, hooks, ...base } = baseOptions(holder)
  const options: Options = {
    ...base,
    legend: { markers: { width: 2, dash: (u, at) => (u.series[at]?.dash ? 'dashed' : 'solid') } },
    scales: {
      // Whole bars at both ends.
      x: { range: (_, first, last) => [first - look.step / 2, last + look.step / 2] },
      // Holds every line that is shown, and the end of the good values.
      y: { range: (_, __, most) => [0, Math.max((most ?? 0) * 1.25, look.good * 1.25)] },
      values: { range: (_, __, most) => [0, Math.max(1, most ?? 0) / BARS_SHARE] },
    },
    axes: [
      { ...axes.time, grid: { show: false }, ...(look.step >= DAY_SECONDS && { incrs: DAYS }) },
      {
        ...axes.value,
        grid: { show: false },
        size: 64,
        values: (_, splits) => splits.map((y) => (y === 0 ? '0' : look.toText(y))),
      },
    ],
    series: [
      timeSeries(look.step >= DAY_SECONDS ? dayText : minuteText),
      ...toSeries(color, look, findUnsure(columns, look.step, look.now)),
    ],
    hooks: { ...hooks, drawClear: [(u) => drawBands(u, bandsOf(u, color, look))] },
  }
  const [times, p50, p75, p95, values] = columns
  return new uPlot(options, [times, values, p50, p75, p95], holder)
}

function toSeries(color: Color, { toText }: ChartLook, unsure: readonly boolean[]): Series[] {
  const { bars } = uPlot.paths
  const value = (_: uPlot, one: number | null) => (one === null ? '–' : toText(one))
  const line = (name: string, stroke: string, { show = true, ...more }: Series): Series => ({
    ...{ label: legendButton(name, show), show, stroke, value, spanGaps: false, ...more },
    gaps: (...[u, at, , , empty]) => [...empty, ...dashes(u, at, unsure)].sort(byStart),
    points: {
      show: true,
      size: 5,
      fill: stroke,
      filter: (u, at) => listIsolated(u.data[at] ?? []),
    },
  })
  return [
    {
      label: legendButton('Values', true),
      scale: 'values',
      ...(bars !== undefined && { paths: bars({ size: [0.8, 24] }) }),
      fill: color('--track'),
      stroke: color('--track'),
      width: 0,
      points: { show: false },
      value: (_, count: number | null) => String(count ?? '–'),
    },
    line('p50', color('--ink-soft'), { width: 1.5, show: false }),
    line('p75', color('--data'), { width: 2.5 }),
    line('p95', color('--ink-soft'), { width: 1.5, dash: [6, 4], show: false }),
  ]
}

type Gap = uPlot.Series.Gap

/** The gaps between the dashes of a line, in pixels of the canvas. */
function dashes(u: uPlot, series: number, unsure: readonly boolean[]): Gap[] {
  const times = u.data[0]
  const values = u.data[series] ?? []
  const dash = DASH_PIXELS * devicePixelRatio
  return [...times.keys()].flatMap((at) => {
    const [time, next] = [times[at], times[at + 1]]
    if (time === undefined || next === undefined || !(unsure[at] || unsure[at + 1])) return []
    // Between a value and none is a gap already.
    if ((values[at] ?? null) === null || (values[at + 1] ?? null) === null) return []
    const [start, end] = [u.valToPos(time, 'x', true), u.valToPos(next, 'x', true)]
    const count = Math.max(1, Math.floor((end - start) / (2 * dash)))
    const period = (end - start) / count
    return Array.from({ length: count }, (_, one): Gap => {
      const from = start + (one + 0.25) * period
      return [from, from + period / 2]
    })
  })
}

function byStart([one]: Gap, [other]: Gap): number {
  return one - other
}

interface Band {
  readonly fill: string
  /** In pixels of the canvas. */
  readonly top: number
  readonly bottom: number
}

/** Good at the bottom, needs improvement in the middle, poor at the top. */
function bandsOf(u: uPlot, color: Color, { good, poor }: ChartLook): Band[] {
  const most = u.scales['y']?.max ?? 0
  const ends = [
    { from: 0, to: good, fill: color('--good') },
    { from: good, to: poor, fill: color('--near') },
    { from: poor, to: most, fill: color('--error') },
  ]
  const placeOf = (value: number) => u.valToPos(Math.min(value, most), 'y', true)
  return ends
    .filter(({ from }) => from < most)
    .map(({ from, to, fill }) => ({ fill, top: placeOf(to), bottom: placeOf(from) }))
}

function drawBands({ ctx, bbox }: uPlot, bands: readonly Band[]): void {
  ctx.save()
  ctx.globalAlpha = 0.08
  for (const { fill, top, bottom } of bands) {
    ctx.fillStyle = fill
    ctx.fillRect(bbox.left, top, bbox.width, bottom - top)
  }
  ctx.restore()
}
