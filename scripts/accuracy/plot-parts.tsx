import type { Child } from 'hono/jsx'
import type { ScoredSource } from '../../lib/geo/accuracy/report.ts'
import { sourceName } from './words.ts'

const WIDTH = 720
export const LABELS = 170
export const RIGHT = WIDTH - 20
export const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1]

/** From a share to the horizontal place. */
export const across = (share: number) => round(LABELS + share * (RIGHT - LABELS))

/** Colours of sources in the style sheet. */
export const COLORS = 4

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
export function Mark({
  at,
  x,
  y,
}: {
  readonly at: number
  readonly x: number
  readonly y: number
}) {
  if (at % COLORS === 0) return <circle cx={x} cy={y} r={5} />
  if (at % COLORS === 1) return <rect x={x - 4.5} y={y - 4.5} width={9} height={9} />
  const points = at % COLORS === 2 ? [0, -6, 6, 0, 0, 6, -6, 0] : [0, -6, 6, 5, -6, 5]
  return <polygon points={points.map((value, n) => value + (n % 2 === 0 ? x : y)).join(' ')} />
}

interface PlotProps {
  readonly height: number
  readonly label: string
  readonly children: Child
}

export function Plot({ height, label, children }: PlotProps) {
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

export function VerticalLine({ share, height, unit = '%' }: VerticalLineProps) {
  return (
    <g>
      <line class="grid" x1={across(share)} x2={across(share)} y1={0} y2={height} />
      <text x={across(share)} y={height + 20} text-anchor="middle">
        {unit === '%' ? `${100 * share} %` : share}
      </text>
    </g>
  )
}

export function round(value: number): number {
  return Math.round(value * 10) / 10
}
