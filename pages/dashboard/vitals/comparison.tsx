import { CORE_VITALS, type CoreVital } from '../../../lib/contract/telemetry/metrics.ts'
import { MIN_VIEWS, valueText } from '../../../lib/contract/telemetry/rating.ts'
import type {
  MetricOverview,
  RumOverview,
} from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { percent } from '../parts/format.ts'
import { isNotable } from './rating.ts'

/** How the period compares with the period of the same length just before it. */
export type Comparison =
  | { readonly kind: 'made'; readonly before: RumOverview['metrics'] }
  /** The earlier period begins before the oldest data that is kept. */
  | { readonly kind: 'deleted'; readonly keptDays: number }
  /** The API answered with an error. */
  | { readonly kind: 'failed'; readonly reason: string }

/** Why the period is not compared, or some of its metrics are not; null if all are. */
export function whyNotCompared(
  comparison: Comparison,
  metrics: RumOverview['metrics'],
): string | null {
  switch (comparison.kind) {
    case 'made':
      return whyFew(metrics, comparison.before)
    case 'deleted':
      return `Not compared with the period before: data is kept for ${comparison.keptDays} days, and that of the period before is deleted.`
    case 'failed':
      return `Could not compare with the period before: ${comparison.reason}.`
  }
}

function whyFew(metrics: RumOverview['metrics'], before: RumOverview['metrics']): string | null {
  const known = CORE_VITALS.filter((vital) => metrics[vital].p75 !== null)
  const few = known.filter((vital) => !areEnough(metrics[vital], before[vital]))
  if (few.length === 0) return null
  const names = few.map((vital) => vital.toUpperCase()).join(' and ')
  const what = few.length === known.length ? 'Not' : `${names} not`
  return `${what} compared with the period before: that takes ${MIN_VIEWS} values in each.`
}

function areEnough(metric: MetricOverview, before: MetricOverview): boolean {
  return Math.min(metric.sampleCount, before.sampleCount) >= MIN_VIEWS
}

interface ChangeProps {
  readonly vital: CoreVital
  readonly metric: MetricOverview
  readonly comparison: Comparison
}

/** How p75 has changed. For all vitals, less is better. */
export function Change({ vital, metric, comparison }: ChangeProps) {
  if (comparison.kind !== 'made' || metric.p75 === null) return null
  const before = comparison.before[vital]
  if (before.p75 === null || !areEnough(metric, before)) return null
  const [now, was] = [metric.p75, before.p75]
  const wasText = valueText(vital, was)
  if (wasText === valueText(vital, now) || !isNotable(vital, metric, before)) {
    return <p class="soft small">About the same as before: {wasText}</p>
  }
  const by = was === 0 ? '' : `${percent(Math.abs(now - was) / was)} `
  const [sign, word, kind] = now < was ? ['↓', 'better', 'good'] : ['↑', 'worse', 'poor']
  return (
    <p class="small">
      <span class={kind}>
        <span aria-hidden="true">{sign}</span> {by}
        {word}
      </span>{' '}
      <span class="soft">than {wasText} before</span>
    </p>
  )
}
