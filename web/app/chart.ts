import uPlot, { type Options, type Series } from 'uplot'
import { baseOptions, type Color, readColors } from './chart-parts.ts'
import { type Column, type Columns, listIsolated } from './timeline.ts'

export interface ChartLook {
  readonly good: number
  readonly poor: number
  /** Formats a value as the page does. */
  readonly toText: (value: number) => string
}

/** The share of the height for the bars that count the values. */
const BARS_SHARE = 1 / 4

/** Draws p50, p75 and p95 over the thresholds, and the number of values as faint bars. */
export function drawChart(holder: HTMLElement, columns: Columns, look: ChartLook): uPlot {
  const color = readColors(holder)
  const { axes, ...base } = baseOptions(holder)
  const options: Options = {
    ...base,
    legend: { markers: { width: 2, dash: (u, at) => (u.series[at]?.dash ? 'dashed' : 'solid') } },
    scales: {
      y: { range: [0, topOf(columns, look)] },
      values: { range: (_, __, most) => [0, Math.max(1, most ?? 0) / BARS_SHARE] },
    },
    axes: [axes.time, { ...axes.value, values: (_, splits) => splits.map(look.toText) }],
    series: [{ label: 'UTC', value: '{YYYY}-{MM}-{DD} {HH}:{mm}' }, ...toSeries(color, look)],
    hooks: { drawClear: [(u) => drawBands(u, color, look)] },
  }
  const [times, p50, p75, p95, values] = columns
  return new uPlot(options, [times, values, p50, p75, p95], holder)
}

/** p75 is what counts, so it fills the height: a p95 far above it leaves the chart. */
function topOf([, , p75, p95]: Columns, { good }: ChartLook): number {
  const most = (column: Column) => Math.max(0, ...column.map((value) => value ?? 0))
  return Math.max(Math.min(most(p75) * 1.5, most(p95) * 1.05), good * 1.1)
}

function toSeries(color: Color, { toText }: ChartLook): Series[] {
  const { bars } = uPlot.paths
  const value = (_: uPlot, one: number | null) => (one === null ? '–' : toText(one))
  const line = (label: string, stroke: string, more: Series): Series => ({
    ...{ label, stroke, value, spanGaps: false, ...more },
    points: {
      show: true,
      size: 5,
      fill: stroke,
      filter: (u, at) => listIsolated(u.data[at] ?? []),
    },
  })
  return [
    {
      label: 'Values',
      scale: 'values',
      ...(bars !== undefined && { paths: bars({ size: [0.8, 24] }) }),
      fill: color('--line'),
      stroke: color('--line'),
      width: 0,
      points: { show: false },
      value: (_, count: number | null) => String(count ?? '–'),
    },
    line('p50', color('--ink-soft'), { width: 1.5 }),
    line('p75', color('--accent'), { width: 3 }),
    line('p95', color('--ink-soft'), { width: 1.5, dash: [6, 4] }),
  ]
}

/** Colours the background: good at the bottom, needs improvement in the middle, poor at the top. */
function drawBands(u: uPlot, color: Color, { good, poor }: ChartLook): void {
  const { ctx, bbox } = u
  const most = u.scales['y']?.max ?? 0
  const bands = [
    { from: 0, to: good, fill: color('--good') },
    { from: good, to: poor, fill: color('--near') },
    { from: poor, to: most, fill: color('--error') },
  ]
  ctx.save()
  ctx.globalAlpha = 0.1
  for (const { from, to, fill } of bands) {
    if (from >= most) continue
    const [bottom, top] = [from, Math.min(to, most)].map((value) => u.valToPos(value, 'y', true))
    ctx.fillStyle = fill
    ctx.fillRect(bbox.left, top ?? 0, bbox.width, (bottom ?? 0) - (top ?? 0))
  }
  ctx.restore()
}
