import type { Child } from 'hono/jsx'
import { SESSION } from '../../../lib/contract/account/usage-details.ts'
import { numbers, Table } from '../../table.tsx'
import { Card, sizeOf } from '../parts/card.tsx'
import { Empty } from '../parts/empty.tsx'
import { count, counted, percent } from '../parts/format.ts'
import { Given } from '../parts/given.tsx'
import { type PageProps, Result } from '../parts/notice.tsx'
import { endpointName } from './endpoints.ts'
import { Filters, type NamedKey, PERIODS, revokedName, type UsageChoice } from './filters.tsx'
import type { DailyUsage, UsageTotal } from './report.ts'
import { UsageChart } from './usage-chart.tsx'

export interface UsageReport {
  readonly total: Omit<UsageTotal, 'id'>
  readonly daily: DailyUsage
  readonly endpoints: readonly UsageTotal[]
  readonly keys: readonly UsageTotal[]
}

interface UsageProps extends PageProps {
  readonly choice: UsageChoice
  readonly keys: readonly NamedKey[]
  /** null if the API answered with an error; `error` is its message. */
  readonly report: UsageReport | null
}

export function Usage({ base, choice, keys, report, error }: UsageProps) {
  return (
    <>
      <Filters base={base} choice={choice} keys={keys} />
      <div class="item-head">
        <p class="soft" id="summary" role="status">
          {report !== null && summaryOf(report.total.requests, choice)}
        </p>
        <a href={`${base}/app/usage/mails`}>Mails about usage</a>
      </div>
      <div id="report">
        <Result error={error} />
        {report !== null && (
          <UsageReportView base={base} choice={choice} names={keys} report={report} />
        )}
      </div>
    </>
  )
}

function summaryOf(requests: number, { period }: UsageChoice): string {
  return `${counted(requests, 'request', 'requests')} in the last ${PERIODS[period]} days`
}

interface ReportProps {
  readonly base: string
  readonly choice: UsageChoice
  readonly names: readonly NamedKey[]
  readonly report: UsageReport
}

function UsageReportView({ base, choice, names, report }: ReportProps) {
  const { total, daily, endpoints, keys } = report
  if (total.requests === 0) {
    return (
      <Empty icon="chart-column" title="No requests in this period">
        <p class="soft">New ones show here within seconds. Each needs a key.</p>
        <a href={`${base}/app/keys`}>Keys</a>
      </Empty>
    )
  }
  const linkTo = (change: Partial<UsageChoice>) =>
    `${base}/app/usage?${new URLSearchParams({ ...choice, ...change })}`
  return (
    <>
      <Tiles total={total} />
      <Card id="daily" title="Requests per day">
        <UsageChart daily={daily} />
        <p>
          <a href={`${base}/app/usage/export?${new URLSearchParams({ ...choice })}`}>
            Download CSV
          </a>
        </p>
      </Card>
      <Totals
        noun="Endpoint"
        totals={endpoints}
        linkTo={(operation) => linkTo({ operation })}
        nameOf={(operation) => <code>{endpointName(operation)}</code>}
      />
      <Totals
        noun="Key"
        totals={keys}
        linkTo={(key) => linkTo({ key })}
        nameOf={(id) => keyName(id, names.find((key) => key.id === id) ?? null)}
      />
    </>
  )
}

function Tiles({ total: { requests, errors, limited } }: { readonly total: UsageReport['total'] }) {
  const shareOfErrors = percent(errors, requests)
  const size = sizeOf(shareOfErrors, count(limited))
  return (
    <div class="tiles of-three">
      <Card id="requests" title="Requests">
        <p class="figure">{count(requests)}</p>
        <p class="soft">A batch is one request here, but counts each address on your plan</p>
      </Card>
      <Card id="errors" title="Errors" size={size}>
        <p class="figure">{shareOfErrors}</p>
        <p class="soft">{count(errors)} refused or failed</p>
      </Card>
      <Card id="limited" title="Over a limit" size={size}>
        <p class="figure">{count(limited)}</p>
        <p class="soft">Answered with 429</p>
      </Card>
    </div>
  )
}

interface TotalsProps {
  readonly noun: 'Endpoint' | 'Key'
  readonly totals: readonly UsageTotal[]
  /** The page with the filter set to this id. */
  readonly linkTo: (id: string) => string
  readonly nameOf: (id: string) => Child
}

function Totals({ noun, totals, linkTo, nameOf }: TotalsProps) {
  const title = `${noun}s`
  return (
    <Card id={title.toLowerCase()} title={title}>
      <section class="wide stacked usage-totals" tabindex={0} aria-label={`Table of ${title}`}>
        <Table
          isStacked
          heads={[noun, ...numbers('Requests', 'Errors', 'Share of errors', 'Over a limit')]}
          rows={totals.map((total) => [
            <a href={linkTo(total.id)}>{nameOf(total.id)}</a>,
            count(total.requests),
            count(total.errors),
            percent(total.errors, total.requests),
            count(total.limited),
          ])}
        />
      </section>
    </Card>
  )
}

/** `id` is empty or `session` for sessions; `key` is null if the key is revoked. */
export function keyName(id: string, key: Pick<NamedKey, 'name' | 'prefix'> | null): Child {
  if (id === '' || id === SESSION) return 'Signed in, without a key'
  return key === null
    ? revokedName(id)
    : [<Given text={key.name} />, ' ', <code class="soft under">{key.prefix}…</code>]
}
