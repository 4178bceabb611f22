import type { Child } from 'hono/jsx'
import { CORE_VITALS } from '../../../lib/contract/telemetry/metrics.ts'
import { JUDGED } from '../../../lib/contract/telemetry/rating.ts'
import type { RumOverview, SeriesStep } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { Chips, ChoiceLinks } from '../parts/choice-links.tsx'
import { Copyable } from '../parts/copyable.tsx'
import { Empty } from '../parts/empty.tsx'
import { counted, endOfHour, startOfHour } from '../parts/format.ts'
import { type PageProps, Result } from '../parts/notice.tsx'
import { Time, TimeRange } from '../parts/time.tsx'
import { Causes } from './causes.tsx'
import { type Audience, deviceName, type LinkTo, linkFrom, type VitalsChoice } from './choice.ts'
import { type Comparison, whyNotCompared } from './comparison.tsx'
import { CoreCard } from './core-card.tsx'
import { type CountryName, Filters } from './filters.tsx'
import { PageErrors } from './page-errors.tsx'
import { type Device, judge } from './rating.ts'
import { Shares } from './shares.tsx'
import { Technical } from './technical.tsx'
import { VERDICTS, VerdictCard } from './verdict.tsx'
import { VitalChart } from './vital-chart.tsx'

/** The measurements of the period. */
export interface VitalsReport {
  /** Of the audience. */
  readonly overview: RumOverview
  readonly audience: Audience
  /** Of all devices, after the other filters. */
  readonly devices: readonly Device[]
  readonly step: SeriesStep
  readonly comparison: Comparison
  /** A command that downloads the same data from the API. */
  readonly curl: string
  /** ISO 8601. */
  readonly asOf: string
}

/** What only the owner of the site sees. */
export interface OwnerParts {
  readonly snippet: string
  /** Forms below the report. */
  readonly settings: Child
}

export interface VitalsProps extends PageProps {
  /** The path of the page, with the base. */
  readonly page: string
  readonly choice: VitalsChoice
  readonly countries: readonly CountryName[]
  /** null: the page is for readers of a link, who see what docs/security.md says. */
  readonly owner: OwnerParts | null
  /** null if the API answered with an error; `error` is its message. */
  readonly report: VitalsReport | null
}

export function Vitals(props: VitalsProps) {
  const { page, choice, report, owner, error, done } = props
  return (
    <>
      <Result error={error} done={done} />
      {report !== null && (
        <div id="report">
          <Report {...props} report={report} linkTo={linkFrom(page, choice)} />
          {owner?.settings}
        </div>
      )}
    </>
  )
}

/** The filters of the page, for the place beside its heading. */
export function VitalsFilters({ report, ...props }: VitalsProps) {
  const measured = report?.overview.countries.flatMap(({ country }) => country ?? []) ?? []
  return <Filters {...props} measured={measured} />
}

interface ReportProps extends VitalsProps {
  readonly report: VitalsReport
  readonly linkTo: LinkTo
}

function Report(props: ReportProps) {
  const { choice, countries, report, linkTo } = props
  const { path, country } = choice
  const name = countries.find(({ code }) => code === country)?.name ?? country
  const chips = [
    { name: 'Page', value: path, href: linkTo({ path: '' }) },
    { name: 'Country', value: name, href: linkTo({ country: '' }) },
  ]
  return (
    <>
      {report.devices.length > 0 && <DeviceSwitch report={report} linkTo={linkTo} />}
      <Chips chips={chips.filter(({ value }) => value !== '')} />
      {report.overview.sampleCount === 0 ? <NothingMeasured {...props} /> : <Measured {...props} />}
    </>
  )
}

/** Phones and desktops, each with its verdict, and all devices together. */
function DeviceSwitch({ report, linkTo }: Pick<ReportProps, 'report' | 'linkTo'>) {
  const { devices, audience } = report
  const types = audience === 'tablet' ? [...JUDGED, audience] : JUDGED
  const links = types.map((device) => {
    const found = devices.find(({ deviceType }) => deviceType === device)
    const verdict = found && VERDICTS[judge(found.p75, found.sampleCount)]
    return {
      text: (
        <>
          {deviceName(device)}{' '}
          <span class={`small ${verdict?.style ?? 'soft'}`}>{verdict?.text ?? 'No views'}</span>
        </>
      ),
      href: linkTo({ device }),
      isChosen: device === audience,
    }
  })
  const all = { text: 'All devices', href: linkTo({ device: 'all' }), isChosen: audience === 'all' }
  return <ChoiceLinks label="Devices" look="switch" links={[...links, all]} />
}

/** Of which views the figures are. */
function Summary({ report: { overview, asOf } }: Pick<ReportProps, 'report'>) {
  const { period, sampleCount } = overview
  return (
    <p class="soft small" role="status">
      <strong>{counted(sampleCount, 'view', 'views')}</strong>,{' '}
      <TimeRange from={startOfHour(period.from)} to={endOfHour(period.to)} />, as of{' '}
      <Time at={asOf} precision="clock" />.
    </p>
  )
}

/** What the figures mean. Open if they lack what the API should have given. */
function Method({ report: { overview, comparison } }: Pick<ReportProps, 'report'>) {
  const why = whyNotCompared(comparison, overview.metrics)
  return (
    <details open={comparison.kind === 'failed'}>
      <summary>How this is measured</summary>
      <ul class="plain soft small">
        <li>Values are 75th percentiles: three of four views were at least this good.</li>
        <li>
          CLS comes from browsers based on Chromium, INP from visitors who click, tap or type.
        </li>
        <li>Pages are the 20 most viewed, by whole days. In a path, * stands for an id.</li>
        <li>Elements are of slow views that name one.</li>
        {why !== null && <li>{why}</li>}
      </ul>
    </details>
  )
}

function NothingMeasured(props: ReportProps) {
  const { choice, report, linkTo } = props
  const isFiltered = choice.device !== '' || choice.country !== '' || choice.path !== ''
  return (
    <>
      <Empty icon="gauge" title="Nothing was measured">
        {isFiltered ? (
          <p>
            No views from this page, device and country in this period.{' '}
            <a href={linkTo({ device: '', country: '', path: '' })}>
              Show all pages, devices and countries
            </a>
          </p>
        ) : (
          <NoViews {...props} />
        )}
      </Empty>
      <Summary report={report} />
    </>
  )
}

function NoViews({ base, owner, report }: ReportProps) {
  const { bots } = report.overview.beacons
  if (owner === null) return <p>No views in this period.</p>
  return (
    <>
      {bots > 0 && (
        <p>
          {counted(bots, 'visit', 'visits')} of bots and automated browsers did not count. Open a
          page in a browser that you use yourself.
        </p>
      )}
      <p>No views in this period. Each page needs this tag in its head:</p>
      <Copyable id="snippet" text={owner.snippet} />
      <p>
        <a href={`${base}/app/sites`}>Sites</a> shows whether beacons arrive, and what may block
        them.
      </p>
    </>
  )
}

function Measured({ page, choice, countries, report, owner, linkTo }: ReportProps) {
  const { overview, audience, devices, step, comparison, curl } = report
  const note = wider(audience, choice)
  const names = new Map(countries.map(({ code, name }) => [code, name]))
  const exported = { site: choice.site, period: choice.period, from: choice.from, to: choice.to }
  const exportPath = (format: string) =>
    `${page}/export?${new URLSearchParams({ ...exported, device: audience, country: choice.country, format })}`
  return (
    <>
      <div class="metrics">
        {CORE_VITALS.map((vital) => (
          <CoreCard
            vital={vital}
            metric={overview.metrics[vital]}
            views={overview.sampleCount}
            comparison={comparison}
          />
        ))}
      </div>
      <VerdictCard overview={overview} audience={audience} choice={choice} linkTo={linkTo}>
        <Summary report={report} />
        <Method report={report} />
      </VerdictCard>
      <VitalChart vital={choice.metric} step={step} overview={overview} linkTo={linkTo} />
      <Shares overview={overview} choice={choice} names={names} linkTo={linkTo} />
      <Causes attribution={overview.attribution} />
      {owner !== null && <PageErrors errors={overview.errors} note={note} />}
      <Technical
        overview={overview}
        devices={devices}
        choice={choice}
        note={note}
        linkTo={linkTo}
        download={owner && { exportPath, curl }}
      />
    </>
  )
}

/**
 * Says which filters do not hold for errors, connections and beacons. These are counted by the hour alone: to count
 * them by page, country and kind of device as well would multiply the rows that each beacon changes.
 */
function wider(audience: Audience, { path, country }: VitalsChoice): string {
  const all = [
    path === '' ? [] : 'pages',
    audience === 'all' ? [] : 'devices',
    country === '' ? [] : 'countries',
  ].flat()
  return all.length === 0 ? '' : `For all ${all.join(' and ')}.`
}

/** Shown to a user without sites. */
export function NoSites({ base }: Pick<VitalsProps, 'base'>) {
  return (
    <Empty icon="gauge" title="Add a site first">
      <p>
        Web vitals show how fast your pages are for their visitors. A site is the origin of the
        pages that are measured.
      </p>
      <a class="button" href={`${base}/app/sites`}>
        Add a site
      </a>
    </Empty>
  )
}
