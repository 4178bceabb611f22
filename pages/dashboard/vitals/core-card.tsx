import { type CoreVital, METRIC_RULES } from '../../../lib/contract/telemetry/metrics.ts'
import { MIN_VIEWS, rate, valueText } from '../../../lib/contract/telemetry/rating.ts'
import type { MetricOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { counted, percent } from '../parts/format.ts'
import { MetricCard, Scale } from '../parts/metric-card.tsx'
import { Change, type Comparison } from './comparison.tsx'

interface CoreCardProps {
  readonly vital: CoreVital
  readonly metric: MetricOverview
  /** The number of views that the page shows. */
  readonly views: number
  readonly comparison: Comparison
}

const ABOUT: Readonly<Record<CoreVital, string>> = {
  lcp: 'Main picture or text appears',
  inp: 'Page answers a click or key',
  cls: 'Layout shifts',
}

/** A Core Web Vital at p75, and how it has changed. */
export function CoreCard({ vital, metric, views, comparison }: CoreCardProps) {
  const { p75, ratings, sampleCount } = metric
  const { good, poor } = METRIC_RULES[vital]
  const isJudged = p75 !== null && views >= MIN_VIEWS
  return (
    <MetricCard
      id={vital}
      title={vital.toUpperCase()}
      about={ABOUT[vital]}
      text={p75 === null ? null : valueText(vital, p75)}
      rating={isJudged ? rate(vital, p75) : null}
    >
      {p75 !== null && (
        <Scale value={p75} bounds={[good, poor]} toText={(value) => valueText(vital, value)} />
      )}
      {ratings !== null && (
        <div>
          <Change vital={vital} metric={metric} comparison={comparison} />
          <p class="soft small">
            {percent(ratings.good)} of {counted(sampleCount, 'value', 'values')} are good
          </p>
        </div>
      )}
    </MetricCard>
  )
}
