import type { InpPhase } from '../../../lib/contract/telemetry/attribution.ts'
import { CORE_VITALS, type CoreVital } from '../../../lib/contract/telemetry/metrics.ts'
import type { RumOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { numbers } from '../../table.tsx'
import { Fold } from '../parts/fold.tsx'
import { count } from '../parts/format.ts'
import { ShareTable } from '../parts/share-table.tsx'
import { percent } from './rating.ts'

type Attribution = RumOverview['attribution']

/** What each element did, in views whose value is not good. */
const WHAT: Readonly<Record<CoreVital, string>> = {
  lcp: 'is the main picture or text',
  inp: 'is what was clicked, tapped or typed into',
  cls: 'is what moved most',
}

const PHASES: Readonly<Record<InpPhase, string>> = {
  'input-delay': 'the wait until its handlers run (input delay)',
  processing: 'its handlers (processing)',
  presentation: 'painting the next frame (presentation)',
}

interface CauseProps {
  readonly vital: CoreVital
  readonly overview: Pick<RumOverview, 'metrics' | 'attribution'>
}

/**
 * Says which element most slow views have in common, and where their interactions lose time. Silent if most slow
 * views say nothing, as those of older scripts do.
 */
export function Cause({ vital, overview: { metrics, attribution } }: CauseProps) {
  const { count: slow, top } = attribution[vital]
  const [first] = top
  const { sampleCount, ratings } = metrics[vital]
  const isMost = slow * 2 > sampleCount * (1 - (ratings?.good ?? 1))
  if (!isMost || first === undefined) return null
  return (
    <>
      <code>{first.name}</code> {WHAT[vital]} in {percent(first.count / slow)} of the slow views
      that name an element. {vital === 'inp' && <Phase phases={attribution.inpPhase} />}
    </>
  )
}

function Phase({ phases: { count: all, top } }: { readonly phases: Attribution['inpPhase'] }) {
  const [first] = top
  const where = Object.entries(PHASES).find(([phase]) => phase === first?.name)?.[1]
  return first === undefined || where === undefined ? null : (
    <>
      In {percent(first.count / all)} of slow interactions, the longest part is {where}.
    </>
  )
}

/** The elements that slow views have in common. */
export function Causes({ attribution }: Pick<RumOverview, 'attribution'>) {
  const slow = CORE_VITALS.filter((vital) => attribution[vital].count > 0)
  if (slow.length === 0) return null
  return (
    <Fold id="causes" title="Elements" glance="What slow views have in common">
      {slow.map((vital) => (
        <Elements vital={vital} attribution={attribution} />
      ))}
      <p class="soft small">
        By whole days and without countries, from browsers that report it. A view is slow if its
        value is not good. In a name, * stands for a number or an id.
      </p>
    </Fold>
  )
}

function Elements({ vital, attribution }: { vital: CoreVital; attribution: Attribution }) {
  const { count: slow, top } = attribution[vital]
  const label = vital.toUpperCase()
  return (
    <section aria-labelledby={`causes-${vital}`}>
      <h3 id={`causes-${vital}`}>{label}</h3>
      <ShareTable
        label={`Elements by ${label}`}
        heads={['Element', ...numbers('Slow views')]}
        rows={top.map(({ name, count: views }) => ({
          name,
          share: views / slow,
          cells: [count(views)],
        }))}
      />
    </section>
  )
}
