import type { Calibration, ScoredSource } from '../../lib/geo/accuracy/report.ts'
import {
  across,
  COLORS,
  LABELS,
  Mark,
  Plot,
  RIGHT,
  round,
  TICKS,
  VerticalLine,
} from './plot-parts.tsx'
import { inEnglish, percent, sourceName, TITLES, WEIGHTS, type Weight } from './words.ts'

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
