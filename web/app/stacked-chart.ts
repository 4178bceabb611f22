import uPlot, { type Options, type Series } from 'uplot'
import { dayText } from '../../pages/time-text.ts'
import { baseOptions, legendButton, readColors, timeSeries } from './chart-parts.ts'

/** A part of each bar. */
export interface Part {
  readonly name: string
  /** Name of a custom property of the style sheet, such as --accent. */
  readonly color: string
  /** One for each day, from the first to the last. */
  readonly requests: readonly number[]
}

const HALF_DAY_SECONDS = 43_200
/** Steps of the axis: there is no half request. */
const WHOLE = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((n) => n * 10 ** power)).flat()

/** Draws a bar for each day; its parts lie on each other, the first at the bottom. */
export function drawStack(
  holder: HTMLElement,
  times: readonly number[],
  parts: readonly Part[],
): uPlot {
  const color = readColors(holder)
  const { axes, ...base } = baseOptions(holder)
  // uPlot draws later series over earlier ones: the highest bars come first.
  const layers = parts.map((part, at) => ({ part, tops: addUp(parts.slice(0, at + 1)) })).reverse()
  const options: Options = {
    ...base,
    scales: {
      x: { range: (_, first, last) => [first - HALF_DAY_SECONDS, last + HALF_DAY_SECONDS] },
      y: { range: (_, __, most) => [0, Math.max(1, (most ?? 0) * 1.05)] },
    },
    axes: [
      { ...axes.time, grid: { show: false } },
      {
        ...axes.value,
        incrs: WHOLE,
        values: (_, splits) => splits.map((n) => n.toLocaleString('en')),
      },
    ],
    series: [timeSeries(dayText), ...layers.map(({ part }) => toSeries(part, color(part.color)))],
  }
  return new uPlot(options, [[...times], ...layers.map(({ tops }) => tops)], holder)
}

function addUp(parts: readonly Part[]): number[] {
  const [first] = parts
  return (first?.requests ?? []).map((_, day) =>
    parts.reduce((sum, { requests }) => sum + (requests[day] ?? 0), 0),
  )
}

function toSeries({ name, requests }: Part, color: string): Series {
  const { bars } = uPlot.paths
  return {
    label: legendButton(name, true),
    ...(bars !== undefined && { paths: bars({ size: [0.8, 48] }) }),
    fill: color,
    stroke: color,
    width: 0,
    points: { show: false },
    // The value of the layer includes the parts below.
    value: (_, __, ___, day) => (day === null ? '–' : (requests[day] ?? 0).toLocaleString('en')),
  }
}
