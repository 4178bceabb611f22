import type { Child } from 'hono/jsx'
import type { Calibration, ScoredSource } from '../../lib/geo/accuracy/report.ts'
import { inEnglish, percent, sourceName, TITLES, WEIGHTS, type Weight } from './words.ts'

const WIDTH = 720
const LABELS = 170
const RIGHT = WIDTH - 20
const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1]

/** From a share to the horizontal place. */
const across = (share: number) => round(LABELS + share * (RIGHT - LABELS))

const PLOTTED = [
  'country',
  'region',
  'within25Km',
  'within50Km',
  'within100Km',
  'timezone',
] as const
const ROW = 18

interface SharesPlotProps {
  readonly sources: readonly ScoredSource[]
  readonly weight: Weight
}

/** The share of right answers of each source, as dots on their intervals. */
export function SharesPlot({ sources, weight }: SharesPlotProps) {
  const names = PLOTTED.filter((name) => sources.some(({ scores }) => scores[name]))
  const block = ROW * (sources.length + 1)
  const height = block * names.length
  return (
    <Plot height={height + 30} label={`Shares of right answers, ${WEIGHTS[weight]}`}>
      {TICKS.map((tick) => (
        <VerticalLine share={tick} height={height} />
      ))}
      {names.map((name, measure) => (
        <g>
          <text x={LABELS - 10} y={measure * block + ROW + 4} text-anchor="end">
            {TITLES[name]}
          </text>
          {sources.map((source, at) => {
            const estimate = source.scores[name]?.[weight]
            const y = measure * block + (at + 1) * ROW
            return (
              estimate && (
                <g class={`source-${at % COLORS}`}>
                  <title>{`${sourceName(source)}, ${TITLES[name]}: ${percent(estimate)} %`}</title>
                  <line
                    x1={across(estimate.low ?? estimate.value)}
                    x2={across(estimate.high ?? estimate.value)}
                    y1={y}
                    y2={y}
                  />
                  <Mark at={at} x={across(estimate.value)} y={y} />
                </g>
              )
            )
          })}
        </g>
      ))}
    </Plot>
  )
}

/** Colours of sources in the style sheet. */
const COLORS = 4

/** Names the marks of the sources. */
export function Legend({ sources }: { readonly sources: readonly ScoredSource[] }) {
  return (
    <ul class="legend">
      {sources.map((source, at) => (
        <li>
          <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <g class={`source-${at % COLORS}`}>
              <Mark at={at} x={8} y={8} />
            </g>
          </svg>{' '}
          {sourceName(source)}
        </li>
      ))}
    </ul>
  )
}

/** Sources differ in the form of their marks, too, not only in colour. */
function Mark({ at, x, y }: { readonly at: number; readonly x: number; readonly y: number }) {
  if (at % COLORS === 0) return <circle cx={x} cy={y} r={5} />
  if (at % COLORS === 1) return <rect x={x - 4.5} y={y - 4.5} width={9} height={9} />
  const points = at % COLORS === 2 ? [0, -6, 6, 0, 0, 6, -6, 0] : [0, -6, 6, 5, -6, 5]
  return <polygon points={points.map((value, n) => value + (n % 2 === 0 ? x : y)).join(' ')} />
}

const CURVE_HEIGHT = 300

/** For each distance, the share of the true cities within which the answer lies. */
export function ErrorsPlot({ sources }: { readonly sources: readonly ScoredSource[] }) {
  const distances = sources[0]?.within.map(({ km }) => km) ?? []
  const x = (at: number) => across(at / Math.max(1, distances.length - 1))
  const y = (share: number) => round(CURVE_HEIGHT * (1 - share) + 10)
  return (
    <Plot height={CURVE_HEIGHT + 40} label="Shares of cities found within each distance">
      {TICKS.map((tick) => (
        <g>
          <line class="grid" x1={LABELS} x2={RIGHT} y1={y(tick)} y2={y(tick)} />
          <text x={LABELS - 10} y={y(tick) + 4} text-anchor="end">
            {`${100 * tick} %`}
          </text>
        </g>
      ))}
      {distances.map((km, at) => (
        <text x={x(at)} y={CURVE_HEIGHT + 30} text-anchor="middle">
          {at === distances.length - 1 ? 'any' : inEnglish(km)}
        </text>
      ))}
      {sources.map((source, at) => (
        <g class={`source-${at % COLORS}`}>
          <polyline
            fill="none"
            points={source.within.map(({ share }, n) => `${x(n)},${y(share)}`).join(' ')}
          />
          {source.within.map(({ km, share }, n) => (
            <g>
              <title>{`${sourceName(source)}: ${(100 * share).toFixed(1)} % within ${km} km`}</title>
              <Mark at={at} x={x(n)} y={y(share)} />
            </g>
          ))}
        </g>
      ))}
    </Plot>
  )
}

interface CalibrationPlotProps {
  readonly calibration: Calibration
  readonly weight: Weight
}

/** What answers state against the share that is right. On the diagonal, answers are as good as they say. */
export function CalibrationPlot({ calibration, weight }: CalibrationPlotProps) {
  const { stated: field, about, bins } = calibration
  const y = (share: number) => round(CURVE_HEIGHT * (1 - share) + 10)
  return (
    <Plot height={CURVE_HEIGHT + 50} label={`${field} and right answers about the ${about}`}>
      {TICKS.map((tick) => (
        <g>
          <VerticalLine share={tick} height={CURVE_HEIGHT + 10} unit="" />
          <line class="grid" x1={LABELS} x2={RIGHT} y1={y(tick)} y2={y(tick)} />
          <text x={LABELS - 10} y={y(tick) + 4} text-anchor="end">
            {`${100 * tick} %`}
          </text>
        </g>
      ))}
      <line class="diagonal" x1={across(0)} x2={across(1)} y1={y(0)} y2={y(1)} />
      {bins.map(({ stated, right }) => {
        const { value, low = value, high = value } = right[weight]
        if (stated === undefined) return null
        return (
          <g class="source-0">
            <title>{`${field} ${Number(stated.toFixed(3))}: ${percent(right[weight])} % right`}</title>
            <line x1={across(stated)} x2={across(stated)} y1={y(low)} y2={y(high)} />
            <Mark at={0} x={across(stated)} y={y(value)} />
          </g>
        )
      })}
    </Plot>
  )
}

interface PlotProps {
  readonly height: number
  readonly label: string
  readonly children: Child
}

function Plot({ height, label, children }: PlotProps) {
  return (
    <svg class="plot" viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={label}>
      {children}
    </svg>
  )
}

interface VerticalLineProps {
  readonly share: number
  readonly height: number
  /** '': a number from 0 to 1. */
  readonly unit?: '%' | ''
}

function VerticalLine({ share, height, unit = '%' }: VerticalLineProps) {
  return (
    <g>
      <line class="grid" x1={across(share)} x2={across(share)} y1={0} y2={height} />
      <text x={across(share)} y={height + 20} text-anchor="middle">
        {unit === '%' ? `${100 * share} %` : share}
      </text>
    </g>
  )
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
