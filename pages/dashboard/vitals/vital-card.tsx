import { ruleOf, type Vital } from '../../../lib/contract/telemetry/metrics.ts'
import type { MetricOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { counted } from '../parts/format.ts'
import { Change, type Comparison } from './comparison.tsx'
import { percent, RATING_LABELS, type Rating, rate, valueText } from './rating.ts'

interface VitalCardProps {
  readonly vital: Vital
  readonly metric: MetricOverview
  readonly comparison: Comparison
}

export function VitalCard({ vital, metric, comparison }: VitalCardProps) {
  const { p75, ratings, sampleCount } = metric
  return (
    <section class="card vital" aria-labelledby={vital}>
      <h2 id={vital}>
        <abbr title={ruleOf(vital).name}>{vital.toUpperCase()}</abbr>
        {ruleOf(vital).isLegacy && <span class="badge">Legacy</span>}
      </h2>
      {p75 === null ? (
        <p class="soft">No values</p>
      ) : (
        <>
          <p class={`figure rated ${rate(vital, p75)}`}>
            {valueText(vital, p75)} <small>{RATING_LABELS[rate(vital, p75)]}</small>
          </p>
          <Change vital={vital} metric={metric} comparison={comparison} />
        </>
      )}
      {ratings !== null && <RatingBar {...ratings} />}
      <p class="soft small">{counted(sampleCount, 'value', 'values')}</p>
    </section>
  )
}

type Shares = NonNullable<MetricOverview['ratings']>

/** The share of values with each rating, as a bar and as text. */
function RatingBar({ good, needsImprovement, poor }: Shares) {
  const parts = [
    { rating: 'good', share: good, from: 0 },
    { rating: 'needs-improvement', share: needsImprovement, from: good },
    { rating: 'poor', share: poor, from: good + needsImprovement },
  ] as const satisfies { rating: Rating; share: number; from: number }[]
  const x = (share: number) => (share * 100).toFixed(2)
  return (
    <>
      <svg class="rating-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        {parts.map(({ rating, share, from }) => (
          <rect class={rating} x={x(from)} width={x(share)} height="4" />
        ))}
      </svg>
      <ul class="shares">
        {parts.map(({ rating, share }) => (
          <li class={rating}>
            {RATING_LABELS[rating]} <span class="whole">{percent(share)}</span>
          </li>
        ))}
      </ul>
    </>
  )
}
