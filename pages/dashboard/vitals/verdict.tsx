import { CORE_VITALS } from '../../../lib/contract/telemetry/metrics.ts'
import type { RumOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { Card } from '../parts/card.tsx'
import { counted } from '../parts/format.ts'
import { DEVICE_LABELS } from './filters.tsx'
import { Rated } from './rated.tsx'
import { judge, type Verdict as Outcome } from './rating.ts'

const BADGES: Readonly<Record<Outcome, { style: string; text: string }>> = {
  passed: { style: 'badge good', text: 'Passed' },
  failed: { style: 'badge error', text: 'Failed' },
  unknown: { style: 'badge', text: 'Not enough data' },
}

/** Whether the site passes the Core Web Vitals, judged separately for phones and desktops. */
export function Verdicts({ devices }: Pick<RumOverview, 'devices'>) {
  const judged = (['mobile', 'desktop'] as const).flatMap((type) => {
    const part = devices.find(({ deviceType }) => deviceType === type)
    return part === undefined ? [] : [{ type, part }]
  })
  return (
    <Card id="verdict" title="Core Web Vitals, 75th percentile">
      {judged.length === 0 ? (
        <p>None of the views came from a phone or a desktop.</p>
      ) : (
        <div class="verdicts">
          {judged.map(({ type, part }) => (
            <Verdict type={type} part={part} />
          ))}
        </div>
      )}
      <p class="soft small">
        Passed if LCP, INP and CLS are all good. Only browsers based on Chromium report CLS, and
        only visitors who click, tap or type have an INP.
      </p>
    </Card>
  )
}

type Device = RumOverview['devices'][number]

function Verdict({ type, part }: { type: 'mobile' | 'desktop'; part: Device }) {
  const { p75, sampleCount } = part
  const { style, text } = BADGES[judge(p75)]
  return (
    <div class="verdict">
      <h3>
        {DEVICE_LABELS[type]} <span class={style}>{text}</span>
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
