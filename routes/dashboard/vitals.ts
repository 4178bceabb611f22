import { VITALS } from '../../lib/contract/telemetry/metrics.ts'
import { SCRIPT_PATH } from '../../lib/contract/telemetry/script.ts'
import type { SeriesStep } from '../../lib/contract/telemetry/telemetry-overview.ts'
import type { RumSummary } from '../../lib/contract/telemetry/telemetry-schemas.ts'
import { listCountries } from '../../lib/geo/place/countries.ts'
import { KEPT_DAYS, type TelemetryPeriod } from '../../lib/rum/hour.ts'
import type { Audience, VitalsChoice } from '../../pages/dashboard/vitals/choice.ts'
import type { Comparison } from '../../pages/dashboard/vitals/comparison.tsx'
import { firstAudience } from '../../pages/dashboard/vitals/rating.ts'
import { NoSites, Vitals, type VitalsReport } from '../../pages/dashboard/vitals/vitals.tsx'
import type { PageAnswer } from '../pages/page.ts'
import { showPage } from './request/answer.ts'
import { errorForPage, getOperation } from './request/call-api.ts'
import { toRefusal } from './request/problem.ts'
import type { AppRoute, UserVisit } from './request/visit.ts'
import { periodBefore, readChoice, stepOf, toPeriod, toQuery, withDays } from './vitals-choice.ts'

const PERCENTILES = ['p50', 'p75', 'p95'] as const

export const vitalRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/vitals', answer: showVitals },
  { method: 'get', path: '/app/vitals/export', answer: exportVitals },
]

const PAGE = { title: 'Web vitals', assets: ['vitals.js'] } as const

async function showVitals(visit: UserVisit): Promise<PageAnswer> {
  const { callApi, instance, services, c } = visit
  const sites = (await callApi('listSites')).map(({ name }) => name)
  if (sites.length === 0) return showPage(visit, { ...PAGE, content: NoSites(instance) })
  const choice = readChoice((name) => c.req.query(name), sites)
  const shown = {
    base: instance.base,
    sites,
    choice: withDays(choice, services.now()),
    countries: listCountries(),
    snippet: `<script defer src="${services.baseUrl()}${SCRIPT_PATH}"></script>`,
  }
  try {
    const report = await makeReport(visit, choice)
    return await showPage(visit, { ...PAGE, content: Vitals({ ...shown, report }) })
  } catch (error) {
    const refused = errorForPage(error)
    const why = toRefusal(refused, { from: 'from', to: 'to' })
    const content = Vitals({ ...shown, report: null, ...why })
    return showPage(visit, { ...PAGE, content, status: refused.status })
  }
}

async function makeReport(visit: UserVisit, choice: VitalsChoice): Promise<VitalsReport> {
  const now = visit.services.now()
  const period = toPeriod(choice, now)
  const step = choice.path === '' ? stepOf(period) : 'day'
  const read = (audience: Audience, series: SeriesStep | undefined) => {
    const query = toQuery(choice, audience, period)
    return visit.callApi('getRumOverview', { query: { ...query, ...(series && { series }) } })
  }
  // All devices are read to judge each kind, then those that are shown.
  const wanted = choice.device
  const all = await read('all', wanted === 'all' ? step : undefined)
  const audience = wanted || firstAudience(all.devices)
  const [overview, comparison] = await Promise.all([
    wanted === 'all' ? all : read(audience, step),
    compare(visit, choice, audience, periodBefore(period, now)),
  ])
  return {
    overview,
    audience,
    devices: all.devices,
    step,
    comparison,
    curl: toCurl(visit, toQuery({ ...choice, path: '' }, audience, period)),
    asOf: new Date(now).toISOString(),
  }
}

/** An error costs only the comparison, not the page. `before`: null if its data is deleted. */
async function compare(
  { callApi }: UserVisit,
  choice: VitalsChoice,
  audience: Audience,
  before: TelemetryPeriod | null,
): Promise<Comparison> {
  if (before === null) return { kind: 'deleted', keptDays: KEPT_DAYS }
  try {
    const query = toQuery(choice, audience, before)
    const { metrics } = await callApi('getRumOverview', { query })
    return { kind: 'made', before: metrics }
  } catch (error) {
    return { kind: 'failed', reason: errorForPage(error).message }
  }
}

function toCurl({ services }: UserVisit, query: ReturnType<typeof toQuery>): string {
  const { path } = getOperation('getRumSummary')
  const url = `${services.baseUrl()}${path}?${new URLSearchParams(query)}`
  return `curl -H "X-API-Key: $KEY" "${url}"`
}

/** Answers with a file: the summary of the site, period and filters that the page shows. */
async function exportVitals({ callApi, c, services }: UserVisit): Promise<PageAnswer> {
  const choice = readChoice((name) => (name === 'path' ? '' : c.req.query(name)), [])
  const query = toQuery(choice, choice.device || 'all', toPeriod(choice, services.now()))
  const summary = await callApi('getRumSummary', { query })
  return c.req.query('format') === 'csv'
    ? toFile(toCsv(summary.metrics), 'csv', 'text/csv; charset=utf-8')
    : toFile(JSON.stringify(summary), 'json', 'application/json')
}

function toFile(file: string, extension: string, type: string): PageAnswer {
  const disposition = `attachment; filename="web-vitals.${extension}"`
  return { status: 200, file, type, headers: { 'content-disposition': disposition } }
}

/** No value needs quotes: all are hours, codes or numbers. */
function toCsv(rows: RumSummary['metrics']): string {
  const columns = VITALS.flatMap((vital) => PERCENTILES.map((name) => `${vital}_${name}`))
  const lines = rows.map(({ hour, country, deviceType, sampleCount, ...vitals }) => [
    ...[hour, country, deviceType, sampleCount],
    ...VITALS.flatMap((vital) => PERCENTILES.map((name) => vitals[vital][name])),
  ])
  const head = ['hour', 'country', 'deviceType', 'sampleCount', ...columns]
  return [head, ...lines].map((line) => `${line.join(',')}\n`).join('')
}
