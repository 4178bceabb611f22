import { operations } from '../../lib/contract/operations.ts'
import { SCRIPT_PATH } from '../../lib/contract/script.ts'
import { listCountries } from '../../lib/geo/countries.ts'
import type { VitalsChoice } from '../../pages/dashboard/vitals/filters.tsx'
import { NoSites } from '../../pages/dashboard/vitals/no-sites.tsx'
import type { Percentiles75 } from '../../pages/dashboard/vitals/rating.ts'
import { type Report, Vitals } from '../../pages/dashboard/vitals/vitals.tsx'
import type { PageAnswer } from '../page.ts'
import { showPage } from './answer.ts'
import { refusalOf } from './ask.ts'
import type { AppRoute, UserVisit } from './visit.ts'
import {
  type AskedPeriod,
  periodBefore,
  readChoice,
  stepOf,
  toPeriod,
  toQuery,
} from './vitals-choice.ts'
import { exportVitals } from './vitals-export.ts'

export const vitalRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/vitals', answer: showVitals },
  { method: 'get', path: '/app/vitals/export', answer: exportVitals },
]

const PAGE = { title: 'Web vitals', assets: ['vitals.js'] } as const

async function showVitals(visit: UserVisit): Promise<PageAnswer> {
  const { ask, instance, services, c } = visit
  const sites = (await ask('listSites')).map(({ name }) => name)
  if (sites.length === 0) return showPage(visit, { ...PAGE, content: NoSites(instance) })
  const choice = readChoice((name) => c.req.query(name), sites)
  const shown = {
    base: instance.base,
    sites,
    choice,
    countries: listCountries(),
    snippet: `<script defer src="${services.baseUrl()}${SCRIPT_PATH}"></script>`,
  }
  try {
    const report = await makeReport(visit, choice)
    return await showPage(visit, { ...PAGE, content: Vitals({ ...shown, report }) })
  } catch (error) {
    const { message, status } = refusalOf(error)
    const content = Vitals({ ...shown, report: null, trouble: message })
    return showPage(visit, { ...PAGE, content, status })
  }
}

async function makeReport(visit: UserVisit, choice: VitalsChoice): Promise<Report> {
  const now = visit.services.now()
  const period = toPeriod(choice, now)
  const query = toQuery(choice, period)
  const step = stepOf(period)
  const overview = await visit.ask('getRumOverview', { query: { ...query, series: step } })
  return {
    overview,
    timeline: { step, ...overview.period, points: overview.series ?? [] },
    before: await findBefore(visit, choice, periodBefore(period, now)),
    curl: toCurl(visit, query),
    asOf: new Date(now).toISOString(),
  }
}

/** The page goes on without it, such as where the limit of the plan is used up. */
async function findBefore(
  { ask }: UserVisit,
  choice: VitalsChoice,
  period: AskedPeriod | null,
): Promise<Percentiles75 | null> {
  if (period === null) return null
  try {
    const { metrics } = await ask('getRumOverview', { query: toQuery(choice, period) })
    const { lcp, inp, cls, ttfb, fid } = metrics
    return { lcp: lcp.p75, inp: inp.p75, cls: cls.p75, ttfb: ttfb.p75, fid: fid.p75 }
  } catch (error) {
    refusalOf(error)
    return null
  }
}

function toCurl({ services }: UserVisit, query: Readonly<Record<string, string | undefined>>) {
  const path = operations.find(({ id }) => id === 'getRumSummary')?.path
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    ),
  )
  return `curl -H "X-API-Key: $KEY" "${services.baseUrl()}${path}?${search}"`
}
