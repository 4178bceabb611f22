import type { RumOverview } from '../../../lib/contract/telemetry-overview.ts'
import { counted } from '../words.ts'
import { milliseconds } from './rating.ts'

interface NavigationTimesProps {
  readonly metrics: RumOverview['metrics']
}

const PHASES = [
  ['dns', 'Looking up the name'],
  ['tls', 'Securing the connection'],
  ['request', 'Waiting for the first byte'],
  ['response', 'Loading the document'],
] as const

/** Where the time goes until the document is there. Percentiles of parts do not add up. */
export function NavigationTimes({ metrics }: NavigationTimesProps) {
  if (PHASES.every(([phase]) => metrics[phase].sampleCount === 0)) return null
  return (
    <section class="card" aria-labelledby="navigation">
      <h2 id="navigation">Loading the document, 75th percentile</h2>
      <dl class="phases">
        {PHASES.map(([phase, meaning]) => {
          const { p75, sampleCount } = metrics[phase]
          return (
            <div>
              <dt>{meaning}</dt>
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
    </section>
  )
}
