import { isVital, METRICS, ruleOf, VITALS } from '../../../lib/contract/telemetry/metrics.ts'
import type { RumOverview, SeriesStep } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { FactList } from '../../fact-list.tsx'
import { Card } from '../parts/card.tsx'
import { Copyable } from '../parts/copyable.tsx'
import { Fold } from '../parts/fold.tsx'
import { count, counted, hourText, minuteText } from '../parts/format.ts'
import { type PageProps, Result } from '../parts/notice.tsx'
import { Breakdown } from './breakdown.tsx'
import { type Comparison, whyNotCompared } from './comparison.tsx'
import { type CountryName, Filters, type VitalsChoice } from './filters.tsx'
import { PageErrors } from './page-errors.tsx'
import { CURRENT_VITALS, milliseconds } from './rating.ts'
import { toBreakdowns } from './to-breakdowns.ts'
import { Verdicts } from './verdict.tsx'
import { VitalCard } from './vital-card.tsx'
import { VitalChart } from './vital-chart.tsx'

const PHASES = METRICS.filter((metric) => !isVital(metric))

/** The measurements of the period. */
export interface VitalsReport {
  readonly overview: RumOverview
  readonly step: SeriesStep
  readonly comparison: Comparison
  /** A command that downloads the same data from the API. */
  readonly curl: string
  /** ISO 8601. */
  readonly asOf: string
}

export interface VitalsProps extends PageProps {
  readonly sites: readonly string[]
  readonly choice: VitalsChoice
  readonly countries: readonly CountryName[]
  readonly snippet: string
  /** null if the API answered with an error; `error` is its message. */
  readonly report: VitalsReport | null
}

export function Vitals(props: VitalsProps) {
  const { base, sites, choice, countries, report, error, problem } = props
  const measured = report?.overview.countries.flatMap(({ country }) => country ?? []) ?? []
  return (
    <>
      <Result error={error} />
      <Filters
        base={base}
        sites={sites}
        choice={choice}
        countries={countries}
        measured={measured}
        problem={problem}
      />
      {report !== null && (
        <div id="report">
          <Summary report={report} />
          {report.overview.sampleCount === 0 ? (
            <Empty {...props} />
          ) : (
            <Measured {...props} report={report} />
          )}
        </div>
      )}
    </>
  )
}

const FEW = 100

function Summary({ report: { overview, comparison, asOf } }: { readonly report: VitalsReport }) {
  const { period, sampleCount } = overview
  const why = whyNotCompared(comparison)
  return (
    <p class="report-head" role="status">
      <strong>{counted(sampleCount, 'view', 'views')}</strong>{' '}
      {sampleCount > 0 && sampleCount < FEW && (
        <span class="badge near" title="With fewer than 100 views, p75 may be off by 14 % or more">
          Few samples
        </span>
      )}{' '}
      <span class="soft small">
        {hourText(period.from)} to {period.to.replace('T', ' ')}:59 UTC, as of {minuteText(asOf)}
      </span>
      {why !== null && sampleCount > 0 && <span class="soft small">{why}</span>}
    </p>
  )
}

function Empty({ base, choice, snippet, report }: VitalsProps) {
  const isFiltered = choice.device !== '' || choice.country !== ''
  return (
    <>
      <Card id="empty" title="Nothing was measured">
        {isFiltered ? (
          <p>
            No views from this device and country in this period. Try all devices and countries.
          </p>
        ) : (
          <>
            <p>No views in this period. Each page needs this tag in its head:</p>
            <Copyable id="snippet" text={snippet} />
            <p>
              <a href={`${base}/app/sites`}>Sites</a> shows whether beacons arrive, and what may
              block them.
            </p>
          </>
        )}
      </Card>
      {report !== null && <DataHealth beacons={report.overview.beacons} />}
    </>
  )
}

function Measured({
  base,
  choice,
  countries,
  report,
}: VitalsProps & { readonly report: VitalsReport }) {
  const { overview, step, comparison, curl } = report
  const { metrics } = overview
  const note =
    choice.device === '' && choice.country === '' ? undefined : 'For all devices and countries.'
  return (
    <>
      <Verdicts devices={overview.devices} />
      <div class="vitals">
        {CURRENT_VITALS.map((vital) => (
          <VitalCard vital={vital} metric={metrics[vital]} comparison={comparison} />
        ))}
      </div>
      <section class="charts" aria-labelledby="charts">
        <h2 id="charts">Over time</h2>
        {CURRENT_VITALS.map((vital, at) => (
          <VitalChart vital={vital} step={step} overview={overview} open={at === 0} />
        ))}
      </section>
      {toBreakdowns(overview, countries, note).map((breakdown) => (
        <Breakdown {...breakdown} />
      ))}
      <NavigationTimes metrics={metrics} />
      <PageErrors errors={overview.errors} note={note} />
      <DataHealth beacons={overview.beacons} />
      <Export base={base} choice={choice} curl={curl} />
      <Legacy report={report} />
    </>
  )
}

/** The vitals that Google has replaced by others, in a fold. */
function Legacy({ report: { overview, step, comparison } }: { readonly report: VitalsReport }) {
  const sent = VITALS.filter(
    (vital) => ruleOf(vital).isLegacy && overview.metrics[vital].sampleCount > 0,
  )
  return (
    <>
      {sent.map((vital) => (
        <Fold id={`legacy-${vital}`} title={ruleOf(vital).name} glance="Legacy">
          <VitalCard vital={vital} metric={overview.metrics[vital]} comparison={comparison} />
          <VitalChart vital={vital} step={step} overview={overview} />
        </Fold>
      ))}
    </>
  )
}

function Export({ base, choice, curl }: Pick<VitalsProps, 'base' | 'choice'> & { curl: string }) {
  const path = (format: string) =>
    `${base}/app/vitals/export?${new URLSearchParams({ ...choice, format })}`
  return (
    <Fold id="export" title="Export" glance="CSV, JSON and the API">
      <p>A row for each hour, country and device type.</p>
      <div class="actions">
        <a class="button quiet" href={path('csv')}>
          Download CSV
        </a>
        <a class="button quiet" href={path('json')}>
          Download JSON
        </a>
      </div>
      <p>
        To download it from a program, use a key with the permission <code>account:read</code>:
      </p>
      <Copyable id="curl" text={curl} />
    </Fold>
  )
}

/** Shown to a user without sites. */
export function NoSites({ base }: Pick<VitalsProps, 'base'>) {
  return (
    <Card id="first" title="Add a site first">
      <p>
        Web vitals show how fast your pages are for their visitors. A site is the origin of the
        pages that are measured.
      </p>
      <p>
        <a class="button" href={`${base}/app/sites`}>
          Add a site
        </a>
      </p>
    </Card>
  )
}

/** Counts the beacons of all devices and countries. */
function DataHealth({ beacons }: Pick<RumOverview, 'beacons'>) {
  const { accepted, bots, refused, droppedValues, lastHour } = beacons
  const facts = [
    ['Beacons accepted', count(accepted)],
    [
      'Last hour with an accepted beacon',
      lastHour === null ? 'Never' : `${hourText(lastHour)} UTC`,
    ],
    ['Sent by bots, not stored', count(bots)],
    ['Refused because too many came at once', count(refused)],
    ['Values dropped as out of range', count(droppedValues)],
  ] as const
  return (
    <Fold
      id="health"
      title="Data health"
      glance={`${counted(accepted, 'beacon', 'beacons')} accepted`}
    >
      <FactList facts={facts} />
    </Fold>
  )
}

/** The phases of loading a document. Their percentiles do not add up to that of the whole load. */
function NavigationTimes({ metrics }: Pick<RumOverview, 'metrics'>) {
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
