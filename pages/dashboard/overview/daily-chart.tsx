import type { UsageStats } from '../../../lib/contract/account/account-schemas.ts'
import { Table } from '../../table.tsx'
import { count } from '../parts/format.ts'

const HEIGHT = 120
const STEP = 20
const BAR = 14

/** Requests per day, oldest first, as bars and as a table for people who cannot see the bars. */
export function DailyChart({ days }: { readonly days: UsageStats['dailyUsage'] }) {
  const most = Math.max(0, ...days.map(({ requests }) => requests))
  const heightOf = (requests: number) =>
    requests === 0 ? 0 : Math.max(2, (requests / most) * HEIGHT)
  return (
    <figure class="daily">
      <svg
        viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {days.map(({ date, requests }, at) => {
          const height = heightOf(requests)
          return (
            <g>
              <title>{`${date}: ${count(requests)}`}</title>
              <rect class="ground" x={at * STEP} width={STEP} height={HEIGHT} />
              <rect class="day" x={at * STEP + 3} y={HEIGHT - height} width={BAR} height={height} />
            </g>
          )
        })}
      </svg>
      <figcaption>
        <span>{days[0]?.date}</span>
        <span>Daily peak: {count(most)}</span>
        <span>{days.at(-1)?.date}</span>
      </figcaption>
      <details>
        <summary>Show as a table</summary>
        <div class="wide">
          <Table
            heads={['Day (UTC)', 'Requests']}
            rows={days.toReversed().map(({ date, requests }) => [date, count(requests)])}
          />
        </div>
      </details>
    </figure>
  )
}
