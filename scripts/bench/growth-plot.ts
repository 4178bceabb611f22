import { type Grown, STEADY_RATE } from './growth-measure.ts'
import { plot, type Row } from './plot.ts'
import { decadeScale, linearScale, type Scale, stepScale } from './plot-scale.ts'

/** What was measured of one dimension. */
export interface Series {
  readonly title: string
  readonly steps: readonly Grown[]
}

type Field = 'rate' | 'cpu' | 'p50' | 'p99' | 'own' | 'mapped'

interface Shown {
  readonly title: string
  readonly toScale: (values: readonly number[]) => Scale
  readonly lines: readonly (readonly [name: string, field: Field])[]
}

const ROWS: readonly Shown[] = [
  {
    title: `Latency at ${STEADY_RATE.toLocaleString('en-US')} requests/s (ms, log scale)`,
    toScale: decadeScale,
    lines: [
      ['p50', 'p50'],
      ['p99', 'p99'],
    ],
  },
  {
    title: 'Processor time per request (µs)',
    toScale: linearScale,
    lines: [['user and system', 'cpu']],
  },
  {
    title: 'Memory (MB)',
    toScale: linearScale,
    lines: [
      ['private', 'own'],
      ['mapped files', 'mapped'],
    ],
  },
]

/** An image with a row for each cost and a column for each dimension. */
export function plotGrowth(all: readonly Series[]): string {
  const titles = all.map(({ title }) => title).join(', ')
  return plot(
    `What Meridian costs as it grows, by ${titles}`,
    ROWS.map((row) => toRow(row, all)),
  )
}

/** The columns of a row have the same scale. */
function toRow({ title, toScale, lines }: Shown, all: readonly Series[]): Row {
  const valuesOf = ({ steps }: Series) => lines.map(([, field]) => steps.map((step) => step[field]))
  return {
    title,
    y: toScale(all.flatMap((series) => valuesOf(series).flat())),
    lines: lines.map(([name]) => name),
    panels: all.map((series) => {
      const xs = series.steps.map(({ size }) => size)
      return { title: `${series.title} (log scale)`, x: stepScale(xs), xs, ys: valuesOf(series) }
    }),
  }
}
