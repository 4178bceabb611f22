import type { Child } from 'hono/jsx'
import type { InpPhase } from '../../../lib/contract/telemetry/attribution.ts'
import { CORE_VITALS, type CoreVital } from '../../../lib/contract/telemetry/metrics.ts'
import type { RumOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { numbers } from '../../table.tsx'
import { Fold } from '../parts/fold.tsx'
import { count, percent } from '../parts/format.ts'
import { ShareTable } from '../parts/share-table.tsx'

type Attribution = RumOverview['attribution']

const PHASES: Readonly<Record<InpPhase, string>> = {
  'input-delay': 'the wait until its handlers run (input delay)',
  processing: 'its handlers (processing)',
  presentation: 'painting the next frame (presentation)',
}

/**
 * The element that most slow views have in common, with its share of those that name one. null if most slow views
 * say nothing, as those of older scripts do.
 */
export function causeOf(
  vital: CoreVital,
  { metrics, attribution }: Pick<RumOverview, 'metrics' | 'attribution'>,
): Child {
  const { count: slow, top } = attribution[vital]
  const [first] = top
  const { sampleCount, ratings } = metrics[vital]
  const isMost = slow * 2 > sampleCount * (1 - (ratings?.good ?? 1))
  if (!isMost || first === undefined) return null
  return (
    <>
      <code>{first.name}</code> <span class="whole">in {percent(first.count / slow)}</span>
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
        <Elements vital={vital} attribution={attribution}>
          {vital === 'inp' && <Phase phases={attribution.inpPhase} />}
        </Elements>
      ))}
      <p class="soft small">
        By whole days and without countries, from browsers that report it. A view is slow if its
        value is not good. In a name, * stands for a number or an id.
      </p>
    </Fold>
  )
}

/** Where slow interactions lose time. */
function Phase({ phases: { count: all, top } }: { readonly phases: Attribution['inpPhase'] }) {
  const [first] = top
  const where = Object.entries(PHASES).find(([phase]) => phase === first?.name)?.[1]
  return first === undefined || where === undefined ? null : (
    <p class="small">
      In {percent(first.count / all)} of slow interactions, the longest part is {where}.
    </p>
  )
}

interface ElementsProps {
  readonly vital: CoreVital
  readonly attribution: Attribution
  /** Shown below. */
  readonly children?: Child
}

function Elements({ vital, attribution, children }: ElementsProps) {
  const { count: slow, top } = attribution[vital]
  const label = vital.toUpperCase()
  return (
    <section aria-labelledby={`causes-${vital}`}>
      <h3 id={`causes-${vital}`}>Slow {label}</h3>
      <ShareTable
        label={`Elements by ${label}`}
        heads={['Element', ...numbers('Slow views')]}
        rows={top.map(({ name, count: views }) => ({
          name,
          share: views / slow,
          cells: [count(views)],
        }))}
      />
      {children}
    </section>
  )
}
