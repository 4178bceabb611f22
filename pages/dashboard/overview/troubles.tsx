import type { UsageRow } from '../../../lib/contract/account/usage-details.ts'
import { MIN_VIEWS, rate, valueText } from '../../../lib/contract/telemetry/rating.ts'
import type { RumOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { numbers, Table } from '../../table.tsx'
import { Card } from '../parts/card.tsx'
import { count, siteText } from '../parts/format.ts'
import { Rated } from '../parts/rated.tsx'
import { Time } from '../parts/time.tsx'
import { endpointName } from '../usage/endpoints.ts'

/** The last week of a site; null if it cannot be read now. */
export interface SiteGlance {
  readonly name: string
  readonly overview: RumOverview | null
}

interface TroublesProps {
  readonly base: string
  /** Newest first. */
  readonly errors: readonly UsageRow[]
  readonly sites: readonly SiteGlance[]
  /** Further sites are not looked at. */
  readonly siteCount: number
}

const SHOWN = 5

/** The newest errors of requests and of pages; nothing if there are none. */
export function Troubles({ base, errors, sites, siteCount }: TroublesProps) {
  const ofPages = sites
    .flatMap(({ name, overview }) => (overview?.errors ?? []).map((error) => ({ ...error, name })))
    .toSorted((a, b) => b.lastSeenAt.localeCompare(a.lastSeenAt))
  if (errors.length + ofPages.length === 0) return null
  return (
    <div class="pair">
      {errors.length > 0 && (
        <Card id="api-errors" title="Newest errors of requests">
          <section class="wide stacked" tabindex={0} aria-label="Table of errors of requests">
            <Table
              isStacked
              heads={['Day (UTC)', 'Endpoint', 'Status', ...numbers('Requests')]}
              rows={errors
                .slice(0, SHOWN)
                .map(({ day, operation = '', status, requests }) => [
                  <Time at={day ?? null} precision="day" />,
                  <code>{endpointName(operation)}</code>,
                  status,
                  count(requests),
                ])}
            />
          </section>
        </Card>
      )}
      {ofPages.length > 0 && (
        <Card id="page-errors" title="Newest errors of pages">
          <Restriction sites={sites} siteCount={siteCount} />
          <section class="wide stacked" tabindex={0} aria-label="Table of errors of pages">
            <Table
              isStacked
              heads={['Message', 'Last seen', ...numbers('Times')]}
              rows={ofPages
                .slice(0, SHOWN)
                .map(({ name, message, lastSeenAt, count: times }) => [
                  <a href={vitalsPath(base, name)}>{message}</a>,
                  <Time at={lastSeenAt} />,
                  count(times),
                ])}
            />
          </section>
        </Card>
      )}
    </div>
  )
}

type SlowestSiteProps = Pick<TroublesProps, 'base' | 'sites' | 'siteCount'>

/** The site whose main content appears last. */
export function SlowestSite({ base, sites, siteCount }: SlowestSiteProps) {
  const measured = sites.flatMap(({ name, overview }) => {
    const { p75 = null, sampleCount = 0 } = overview?.metrics.lcp ?? {}
    return p75 === null ? [] : [{ name, p75, sampleCount }]
  })
  const [slowest] = measured.toSorted((a, b) => b.p75 - a.p75)
  if (slowest === undefined) return <Unmeasured base={base} sites={sites} siteCount={siteCount} />
  const { name, p75, sampleCount } = slowest
  const rating = sampleCount < MIN_VIEWS ? null : rate('lcp', p75)
  return (
    <Card id="slowest" title={measured.length === 1 ? 'Main content appears' : 'Slowest site'}>
      <p class="figure">
        <Rated text={valueText('lcp', p75)} rating={rating} />
      </p>
      <p class="soft">LCP at the 75th percentile, last 7 days</p>
      <Restriction sites={sites} siteCount={siteCount} />
      <a href={vitalsPath(base, name)}>{siteText(name)}</a>
    </Card>
  )
}

/** Says that not all sites were looked at. */
function Restriction({ sites, siteCount }: Pick<TroublesProps, 'sites' | 'siteCount'>) {
  if (siteCount <= sites.length) return null
  return (
    <p class="soft">
      Of the first {sites.length} of {count(siteCount)} sites
    </p>
  )
}

function Unmeasured({ base, sites, siteCount }: SlowestSiteProps) {
  return (
    <Card id="slowest" title="Your pages">
      <p class="soft">
        {sites.length === 0
          ? 'Measure how fast your pages are for their visitors.'
          : 'No view was measured in the last 7 days.'}
      </p>
      <Restriction sites={sites} siteCount={siteCount} />
      <a href={`${base}/app/sites`}>{sites.length === 0 ? 'Add a site' : 'Check your sites'}</a>
    </Card>
  )
}

function vitalsPath(base: string, site: string): string {
  return `${base}/app/vitals?${new URLSearchParams({ site })}`
}
