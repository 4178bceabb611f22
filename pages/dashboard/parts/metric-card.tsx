import type { Child } from 'hono/jsx'
import type { Rating } from '../../../lib/contract/telemetry/rating.ts'
import { RATING_LABELS, Rated } from './rated.tsx'

interface MetricCardProps {
  /** The id of the heading. */
  readonly id: string
  readonly title: string
  /** What is measured, in plain words. */
  readonly about: string
  /** null: there are no values. */
  readonly text: string | null
  /** null: too few values for a rating. */
  readonly rating: Rating | null
  readonly children?: Child
}

/** A value as a figure, with what it means. Beside others, their rows are level: children are a scale and one more. */
export function MetricCard({ id, title, about, text, rating, children }: MetricCardProps) {
  return (
    <section class="card metric" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p class="soft small">{about}</p>
      {text === null ? (
        <p class="soft">No values</p>
      ) : (
        <p>
          <strong class="figure">{text}</strong>{' '}
          {rating !== null && <Rated rating={rating} text={RATING_LABELS[rating]} />}
        </p>
      )}
      {children}
    </section>
  )
}

interface ScaleProps {
  readonly value: number
  /** Values up to the first are good, values above the second are poor. */
  readonly bounds: readonly [good: number, poor: number]
  readonly toText: (value: number) => string
}

/** The ends of the bands, in percent of the width: about thirds, so that both bounds have room below. */
const BANDS = [32, 68, 100] as const

/** Where a value is between good and poor: the card says the same in words. */
export function Scale({ value, bounds: [good, poor], toText }: ScaleProps) {
  const [first, second, last] = BANDS
  return (
    <div class="scale">
      <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <rect class="good" x="0" y="3" width={first} height="4" />
        <rect class="needs-improvement" x={first} y="3" width={second - first} height="4" />
        <rect class="poor" x={second} y="3" width={last - second} height="4" />
        <rect
          class="mark"
          x={(placeOf(value, good, poor) - 0.6).toFixed(2)}
          width="1.2"
          height="10"
        />
      </svg>
      <p class="soft small">
        <span>
          <span class="unseen">Good up to </span>
          {toText(good)}
        </span>
        <span>
          <span class="unseen">, poor above </span>
          {toText(poor)}
        </span>
      </p>
    </div>
  )
}

/** In percent of the width. Values of twice `poor` and more are at the end. */
function placeOf(value: number, good: number, poor: number): number {
  const [first, second, last] = BANDS
  if (value <= good) return Math.max(1, (value / good) * first)
  if (value <= poor) return first + ((value - good) / (poor - good)) * (second - first)
  return Math.min(last - 1, second + ((value - poor) / poor) * (last - second))
}
