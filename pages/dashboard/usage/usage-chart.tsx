import { numbers, Table } from '../../table.tsx'
import { count } from '../parts/format.ts'
import { Time } from '../parts/time.tsx'
import type { DailyUsage } from './report.ts'

/** Requests by day. A script reads the numbers from the table and draws stacked bars above it. */
export function UsageChart({ daily: { parts, days } }: { readonly daily: DailyUsage }) {
  const newest = days.toReversed()
  // One part needs no name below the chart.
  const look = parts.length === 1 ? 'usage-chart single' : 'usage-chart'
  return (
    <figure class={look} data-colors={parts.map(({ color }) => color).join(' ')}>
      <div class="plot" />
      <details>
        <summary>Requests per day as a table</summary>
        <section class="wide" tabindex={0} aria-label="Table of requests per day">
          <Table
            heads={['Day (UTC)', ...numbers(...parts.map(({ name }) => name), 'All')]}
            rows={newest.map(({ date, requests }) => [
              <Time at={date} precision="day" />,
              ...[...requests, requests.reduce((sum, n) => sum + n, 0)].map(count),
            ])}
            points={newest.map(({ date, requests }) =>
              [Date.parse(date) / 1000, ...requests].join(' '),
            )}
          />
        </section>
      </details>
    </figure>
  )
}
