import { byVital, type CoreVital, METRIC_RULES } from '../../../lib/contract/telemetry/metrics.ts'
import {
  MIN_VIEWS,
  rate,
  valueText,
  WHAT,
  WHOSE,
  worstPage,
} from '../../../lib/contract/telemetry/rating.ts'
import type { RumOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { counted } from '../parts/format.ts'
import { Cause } from './causes.tsx'
import type { Audience, LinkTo, VitalsChoice } from './choice.ts'
import { failedVitals, judge, type Verdict } from './rating.ts'

interface VerdictProps {
  /** Of the views that the page shows. */
  readonly overview: RumOverview
  readonly audience: Audience
  readonly choice: VitalsChoice
  readonly linkTo: LinkTo
}

export const VERDICTS: Readonly<Record<Verdict, { style: string; text: string }>> = {
  passed: { style: 'good', text: 'Passed' },
  failed: { style: 'poor', text: 'Failed' },
  unknown: { style: '', text: 'No verdict' },
  few: { style: '', text: 'No verdict yet' },
}

/** Says in sentences which Core Web Vitals fail, by how much, and where to begin. */
export function VerdictCard(props: VerdictProps) {
  const { overview, audience, choice } = props
  const views = overview.sampleCount
  const p75 = byVital((vital) => overview.metrics[vital].p75)
  const verdict = judge(p75, views)
  const { style, text } = VERDICTS[verdict]
  const whose = WHOSE[audience]
  const failed = verdict === 'failed' ? failedVitals(p75) : []
  return (
    <section class="card verdict" aria-labelledby="verdict">
      <h2 id="verdict">
        Core Web Vitals{choice.path !== '' && ` of ${choice.path}`}{' '}
        <span class={`badge ${style}`}>{text}</span>
      </h2>
      {verdict === 'few' && (
        <p>
          A verdict needs {MIN_VIEWS} views, because few values differ by chance:{' '}
          {counted(MIN_VIEWS - views, 'view is', 'views are')} missing.
        </p>
      )}
      {verdict === 'unknown' && (
        <p>LCP or CLS has no values. Only browsers based on Chromium report CLS.</p>
      )}
      {verdict === 'passed' && <p>{whose}, all of them are good.</p>}
      {failed.map((vital) => (
        <p>
          {whose}, {WHAT[vital]} <strong>{valueText(vital, p75[vital] ?? 0)}</strong>; good is{' '}
          {valueText(vital, METRIC_RULES[vital].good)}. <Slowest vital={vital} {...props} />{' '}
          {choice.country === '' && <Cause vital={vital} overview={overview} />}
        </p>
      ))}
    </section>
  )
}

/** The page with the worst value, of those with enough views. */
function Slowest({
  vital,
  overview,
  choice,
  linkTo,
}: Omit<VerdictProps, 'audience'> & { vital: CoreVital }) {
  const worst = worstPage(overview.paths, vital)
  if (choice.path !== '' || worst === null || rate(vital, worst.value) === 'good') return null
  const { path, value } = worst
  return (
    <>
      {vital === 'cls' ? 'Worst' : 'Slowest'} page{choice.country !== '' && ', over all countries'}:{' '}
      <a href={linkTo({ path, country: '' })}>{path}</a>, {valueText(vital, value)}.
    </>
  )
}
