import type { Child } from 'hono/jsx'
import { byVital, type CoreVital, METRIC_RULES } from '../../../lib/contract/telemetry/metrics.ts'
import {
  MIN_VIEWS,
  rate,
  valueText,
  WHOSE,
  worstPage,
} from '../../../lib/contract/telemetry/rating.ts'
import type { RumOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { Table } from '../../table.tsx'
import { counted } from '../parts/format.ts'
import { Rated } from '../parts/rated.tsx'
import { causeOf } from './causes.tsx'
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

/** Says whether Core Web Vitals are good; for each that fails, by how much and where to begin. */
export function VerdictCard({ children, ...props }: VerdictProps & { readonly children?: Child }) {
  const { overview, audience, choice } = props
  const views = overview.sampleCount
  const p75 = byVital((vital) => overview.metrics[vital].p75)
  const verdict = judge(p75, views)
  const { style, text } = VERDICTS[verdict]
  return (
    <section class="card" aria-labelledby="verdict">
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
      {verdict === 'passed' && <p>{WHOSE[audience]}, all of them are good.</p>}
      {verdict === 'failed' && <Failed vitals={failedVitals(p75)} {...props} />}
      {children}
    </section>
  )
}

/** A row for each vital that fails. */
function Failed({ vitals, ...props }: VerdictProps & { readonly vitals: readonly CoreVital[] }) {
  const { overview, choice } = props
  // An element is not known by country, and the worst page of one page is that page.
  const pages = vitals.map((vital) => (choice.path === '' ? worstOf(vital, props) : null))
  const causes = vitals.map((vital) => (choice.country === '' ? causeOf(vital, overview) : null))
  const [hasPage, hasCause] = [pages, causes].map((cells) => cells.some((cell) => cell !== null))
  const worst = choice.country === '' ? 'Worst page' : 'Worst page, over all countries'
  return (
    <section class="wide stacked" tabindex={0} aria-label="What is not good">
      <Table
        isStacked
        heads={[
          'Metric',
          'Value',
          ...(hasPage ? [worst] : []),
          ...(hasCause ? ['Element of slow views'] : []),
        ]}
        rows={vitals.map((vital, at) => [
          vital.toUpperCase(),
          <Value vital={vital} value={overview.metrics[vital].p75 ?? 0} />,
          ...(hasPage ? [pages[at] ?? '–'] : []),
          ...(hasCause ? [causes[at] ?? '–'] : []),
        ])}
      />
    </section>
  )
}

function Value({ vital, value }: { readonly vital: CoreVital; readonly value: number }) {
  return <Rated text={valueText(vital, value)} rating={rate(vital, value)} />
}

function worstOf(vital: CoreVital, { overview, choice, linkTo }: VerdictProps): Child {
  // Pages are of all countries: the value of one country is not their whole.
  const { good } = METRIC_RULES[vital]
  const whole = choice.country === '' ? overview.metrics[vital].p75 : null
  const worst = worstPage(overview.paths, vital, whole ?? good)
  if (worst === null) return null
  const { path, value } = worst
  return (
    <>
      <a href={linkTo({ path, country: '' })}>{path}</a> <Value vital={vital} value={value} />
    </>
  )
}
