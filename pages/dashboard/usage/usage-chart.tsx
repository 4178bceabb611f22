import { Table } from '../../table.tsx'
import { count } from '../parts/format.ts'
import type { DailyUsage } from './report.ts'

/** Requests by day. A script reads the numbers from the table and draws stacked bars above it. */
export function UsageChart({ daily: { parts, days } }: { readonly daily: DailyUsage }) {
  return (
    <figure class="usage-chart" data-colors={parts.map(({ color }) => color).join(' ')}>
      <div class="plot" role="img" aria-label="Requests per day, as in the table below" />
      <details>
        <summary>Requests per day as a table</summary>
        <section class="wide" tabindex={0} aria-label="Table of requests per day">
          <Table heads={['Day (UTC)', ...parts.map(({ name }) => name), 'All']}>
            {days.toReversed().map(({ date, requests }) => (
              <tr data-point={[Date.parse(date) / 1000, ...requests].join(' ')}>
                <th scope="row">{date}</th>
                {requests.map((n) => (
                  <td>{count(n)}</td>
                ))}
                <td>{count(requests.reduce((sum, n) => sum + n, 0))}</td>
              </tr>
            ))}
          </Table>
        </section>
      </details>
    </figure>
  )
}
