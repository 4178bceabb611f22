import { isVital, METRICS, ruleOf } from '../../../lib/contract/telemetry/metrics.ts'
import type { RumOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { Fold } from '../parts/fold.tsx'
import { counted } from '../parts/format.ts'
import { milliseconds } from './rating.ts'

const PHASES = METRICS.filter((metric) => !isVital(metric))

/** The phases of loading a document. Their percentiles do not add up to that of the whole load. */
export function NavigationTimes({ metrics }: Pick<RumOverview, 'metrics'>) {
  if (PHASES.every((phase) => metrics[phase].sampleCount === 0)) return null
  return (
    <Fold id="navigation" title="Loading the document, 75th percentile">
      <dl class="phases">
        {PHASES.map((phase) => {
          const { p75, sampleCount } = metrics[phase]
          return (
            <div>
              <dt class="soft small">{ruleOf(phase).name}</dt>
              <dd>
                <span class="phase">{p75 === null ? '–' : milliseconds(p75)}</span>
                <span class="soft small">
                  {phase}, {counted(sampleCount, 'value', 'values')}
                </span>
              </dd>
            </div>
          )
        })}
      </dl>
    </Fold>
  )
}
