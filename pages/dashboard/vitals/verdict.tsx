import type { RumOverview } from '../../../lib/contract/telemetry-overview.ts'
import { counted } from '../words.ts'
import { DEVICE_WORDS } from './filters.tsx'
import { Rated } from './rated.tsx'
import { CORE_VITALS, judge, type Verdict as Outcome } from './rating.ts'

interface VerdictsProps {
  readonly devices: RumOverview['devices']
}

const OUTCOME_WORDS: Readonly<Record<Outcome, string>> = {
  passed: 'Passed',
  failed: 'Failed',
  unknown: 'Not enough data',
}
const OUTCOME_BADGES: Readonly<Record<Outcome, string>> = {
  passed: 'badge good',
  failed: 'badge trouble',
  unknown: 'badge',
}

/** Whether the site passes the Core Web Vitals, which are judged on phones and on desktops apart. */
export function Verdicts({ devices }: VerdictsProps) {
  const judged = (['mobile', 'desktop'] as const).flatMap((type) => {
    const of = devices.find(({ deviceType }) => deviceType === type)
    return of === undefined ? [] : [{ type, of }]
  })
  return (
    <section class="card" aria-labelledby="verdict">
      <h2 id="verdict">Core Web Vitals, 75th percentile</h2>
      {judged.length === 0 ? (
        <p>None of the views came from a phone or a desktop.</p>
      ) : (
        <div class="verdicts">
          {judged.map(({ type, of }) => (
            <Verdict type={type} of={of} />
          ))}
        </div>
      )}
      <p class="soft small">
        Passed where LCP, INP and CLS are all good. CLS comes from browsers with Chromium alone, INP
        only from visitors who click, tap or type.
      </p>
    </section>
  )
}

interface VerdictProps {
  readonly type: 'mobile' | 'desktop'
  readonly of: RumOverview['devices'][number]
}

function Verdict({ type, of: { p75, sampleCount } }: VerdictProps) {
  const outcome = judge(p75)
  return (
    <div class="verdict">
      <h3>
        {DEVICE_WORDS[type]} <span class={OUTCOME_BADGES[outcome]}>{OUTCOME_WORDS[outcome]}</span>
      </h3>
      <dl>
        {CORE_VITALS.map((vital) => (
          <div>
            <dt>{vital.toUpperCase()}</dt>
            <dd>
              <Rated vital={vital} value={p75[vital]} />
            </dd>
          </div>
        ))}
      </dl>
      <p class="soft small">{counted(sampleCount, 'view', 'views')}</p>
    </div>
  )
}
