import type { Site } from '../../../lib/contract/account/account-schemas.ts'
import { VITALS } from '../../../lib/contract/telemetry/metrics.ts'
import { SCRIPT_PATH } from '../../../lib/contract/telemetry/script.ts'
import type { RumSummary } from '../../../lib/contract/telemetry/telemetry-schemas.ts'
import { listCountries } from '../../../lib/geo/place/countries.ts'
import { siteText } from '../../../pages/dashboard/parts/format.ts'
import { linkFrom } from '../../../pages/dashboard/vitals/choice.ts'
import { Mails } from '../../../pages/dashboard/vitals/mails.tsx'
import { Sharing } from '../../../pages/dashboard/vitals/sharing.tsx'
import {
  NoSites,
  Vitals,
  VitalsFilters,
  type VitalsProps,
} from '../../../pages/dashboard/vitals/vitals.tsx'
import type { PageAnswer } from '../../pages/page.ts'
import { showPage } from '../request/answer.ts'
import { errorForPage } from '../request/call-api.ts'
import { formRoutes } from '../request/form-routes.ts'
import { toRefusal } from '../request/problem.ts'
import type { AppRoute, UserVisit } from '../request/visit.ts'
import { readChoice, toPeriod, toQuery, withDays } from './choice.ts'
import { createLink, readLinks, revokeLink } from './links.ts'
import { readMails, setMails } from './mails.ts'
import { makeReport, type ReadOverview } from './report.ts'

const PERCENTILES = ['p50', 'p75', 'p95'] as const

const PATH = '/app/vitals'

export const vitalRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: PATH, answer: (visit) => showVitals(visit) },
  { method: 'get', path: `${PATH}/export`, answer: exportVitals },
  ...formRoutes(
    PATH,
    showVitals,
    { '/links': createLink, '/links/:id/revoke': revokeLink, '/mails': setMails },
    { days: 'days' },
  ),
]

const TITLE = 'Web vitals'

const DONE: Readonly<Record<string, string>> = {
  revoked: 'Link revoked. It no longer works.',
  'mails-on': 'You get a mail when a metric turns poor. Today is the first day that is judged.',
  'mails-off': 'You get no more mails about this site.',
}

type Shown = Pick<VitalsProps, 'error' | 'problem'>

async function showVitals(
  visit: UserVisit,
  refusal: Shown = {},
  status = 200,
): Promise<PageAnswer> {
  const { callApi, instance, services, c } = visit
  const sites = await callApi('listSites')
  if (sites.length === 0) return showPage(visit, { title: TITLE, content: NoSites(instance) })
  const names = sites.map(({ name }) => name)
  const choice = readChoice((name) => c.req.query(name), names)
  const site = sites.find(({ name }) => name === choice.site)
  const page = `${instance.base}${PATH}`
  const shown = {
    base: instance.base,
    page,
    choice: withDays(choice, services.now()),
    countries: listCountries(),
    owner: {
      snippet: `<script defer src="${services.baseUrl()}${SCRIPT_PATH}"></script>`,
      settings: site && (await settingsOf(visit, site, refusal)),
    },
    done: DONE[c.req.query('done') ?? ''],
  }
  const linkTo = linkFrom(page, choice)
  const show = (props: VitalsProps, answered: number) =>
    showPage(visit, {
      title: site === undefined ? TITLE : `${TITLE} of ${siteText(site.name)}`,
      assets: ['vitals.js'],
      // A path is one of this site alone.
      sites: names.map((name) => ({
        text: siteText(name),
        href: linkTo({ site: name, path: '' }),
        isChosen: name === choice.site,
      })),
      action: VitalsFilters(props),
      content: Vitals(props),
      status: answered,
    })
  try {
    const read: ReadOverview = (query) => callApi('getRumOverview', { query })
    const report = await makeReport(services, read, choice)
    return await show({ ...shown, ...refusal, report }, status)
  } catch (error) {
    const refused = errorForPage(error)
    const why = toRefusal(refused, { from: 'from', to: 'to' })
    return show({ ...shown, report: null, ...why }, refused.status)
  }
}

/** The forms below the report. */
async function settingsOf(visit: UserVisit, site: Site, { problem }: Shown) {
  const { base } = visit.instance
  const query = new URLSearchParams({ site: site.name })
  const actionOf = (path: string) => `${base}${PATH}${path}?${query}`
  return [
    Sharing({ actionOf, problem, ...(await readLinks(visit, site)) }),
    Mails({ actionOf, ...(await readMails(visit, site)) }),
  ]
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
