import type { RumOverview } from '../../../lib/contract/telemetry-overview.ts'
import { Copyable } from '../copyable.tsx'
import { Notice } from '../notice.tsx'
import { counted, hourText, minuteOf } from '../words.ts'
import { Breakdown } from './breakdown.tsx'
import { DataHealth } from './data-health.tsx'
import { type CountryName, Filters, type VitalsChoice } from './filters.tsx'
import { NavigationTimes } from './navigation-times.tsx'
import { PageErrors } from './page-errors.tsx'
import { type Percentiles75, VITALS } from './rating.ts'
import { toBreakdowns } from './to-breakdowns.ts'
import { Verdicts } from './verdict.tsx'
import { VitalCard } from './vital-card.tsx'
import { type Timeline, VitalChart } from './vital-chart.tsx'

/** What was measured in the period. */
export interface Report {
  readonly overview: RumOverview
  readonly timeline: Timeline
  /** 75th percentiles of the period before; null: they cannot be told. */
  readonly before: Percentiles75 | null
  /** The same question to the API. */
  readonly curl: string
  /** ISO 8601. */
  readonly asOf: string
}

export interface VitalsProps {
  readonly base: string
  readonly sites: readonly string[]
  readonly choice: VitalsChoice
  readonly countries: readonly CountryName[]
  readonly snippet: string
  /** Null: there is none, for the reason that `trouble` gives. */
  readonly report: Report | null
  readonly trouble?: string
}

export function Vitals(props: VitalsProps) {
  const { base, sites, choice, countries, report, trouble } = props
  const seen = report?.overview.countries.flatMap(({ country }) => country ?? []) ?? []
  return (
    <>
      {trouble !== undefined && <Notice kind="trouble">{trouble}</Notice>}
      <Filters base={base} sites={sites} choice={choice} countries={countries} seen={seen} />
      {report !== null && (
        <>
          <Summary report={report} />
          {report.overview.sampleCount === 0 ? (
            <Empty {...props} />
          ) : (
            <Measured {...props} report={report} />
          )}
        </>
      )}
    </>
  )
}

const FEW = 100

function Summary({ report: { overview, asOf } }: { readonly report: Report }) {
  const { period, sampleCount } = overview
  return (
    <p class="report-head">
      <strong>{counted(sampleCount, 'view', 'views')}</strong>{' '}
      {sampleCount > 0 && sampleCount < FEW && (
        <span class="badge near" title="Of fewer than 100, p75 may be off by 14 % and more">
          Few samples
        </span>
      )}{' '}
      <span class="soft small">
        {hourText(period.from)} to {period.to.replace('T', ' ')}:59 UTC, as of {minuteOf(asOf)}
      </span>
    </p>
  )
}

function Empty({ base, choice, snippet, report }: VitalsProps) {
  const isFiltered = choice.device !== '' || choice.country !== ''
  return (
    <>
      <section class="card empty" aria-labelledby="empty">
        <h2 id="empty">Nothing was measured</h2>
        {isFiltered ? (
          <p>No view of this device and country came in this period. Try all of them.</p>
        ) : (
          <>
            <p>No view came in this period. Each page needs this in its head:</p>
            <Copyable id="snippet" text={snippet} />
            <p>
              <a href={`${base}/app/sites`}>Sites</a> shows whether beacons come in, and what may
              keep them back.
            </p>
          </>
        )}
      </section>
      {report !== null && <DataHealth beacons={report.overview.beacons} />}
    </>
  )
}

function Measured({ base, choice, countries, report }: VitalsProps & { readonly report: Report }) {
  const { overview, timeline, before, curl } = report
  const { metrics } = overview
  const note =
    choice.device === '' && choice.country === '' ? undefined : 'Of all devices and countries.'
  const vitals = metrics.fid.sampleCount === 0 ? VITALS : ([...VITALS, 'fid'] as const)
  return (
    <>
      <Verdicts devices={overview.devices} />
      <div class="vitals">
        {vitals.map((vital) => (
          <VitalCard vital={vital} metric={metrics[vital]} before={before?.[vital] ?? null} />
        ))}
      </div>
      <section class="charts" aria-labelledby="charts">
        <h2 id="charts">Over time</h2>
        {vitals.map((vital) => (
          <VitalChart vital={vital} timeline={timeline} />
        ))}
      </section>
      {toBreakdowns(overview, countries, note).map((breakdown) => (
        <Breakdown {...breakdown} />
      ))}
      <NavigationTimes metrics={metrics} />
      <PageErrors errors={overview.errors} note={note} />
      <DataHealth beacons={overview.beacons} />
      <Export base={base} choice={choice} curl={curl} />
    </>
  )
}

function Export({ base, choice, curl }: Pick<VitalsProps, 'base' | 'choice'> & { curl: string }) {
  const path = (format: string) =>
    `${base}/app/vitals/export?${new URLSearchParams({ ...choice, format })}`
  return (
    <section class="card" aria-labelledby="export">
      <h2 id="export">Export</h2>
      <p>A row for each hour, country and kind of device.</p>
      <div class="actions">
        <a class="button quiet" href={path('csv')}>
          Download CSV
        </a>
        <a class="button quiet" href={path('json')}>
          Download JSON
        </a>
      </div>
      <p>The same for a program, with a key that may read the account:</p>
      <Copyable id="curl" text={curl} />
    </section>
  )
}
