import { daysUpTo } from '../../../lib/config/period.ts'
import { USAGE_COLUMNS, type UsageRow } from '../../../lib/contract/account/usage-details.ts'
import { usageCsv } from '../../../lib/usage/usage-details.ts'
import { endpointName } from '../../../pages/dashboard/usage/endpoints.ts'
import { PERIODS, SPLITS, type UsageChoice } from '../../../pages/dashboard/usage/filters.tsx'
import {
  dailyByEndpoint,
  dailyByOutcome,
  totalOf,
  totalsBy,
} from '../../../pages/dashboard/usage/report.ts'
import { Usage, type UsageReport } from '../../../pages/dashboard/usage/usage.tsx'
import type { PageAnswer } from '../../pages/page.ts'
import { showPage } from '../request/answer.ts'
import { errorForPage } from '../request/call-api.ts'
import type { AppRoute, UserVisit } from '../request/visit.ts'
import { usageMailRoutes } from './usage-mails.ts'

export const usageRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/usage', answer: showUsage },
  { method: 'get', path: '/app/usage/export', answer: exportUsage },
  ...usageMailRoutes,
]

const PAGE = { title: 'Usage', assets: ['usage.js'] } as const

async function showUsage(visit: UserVisit): Promise<PageAnswer> {
  const { callApi, instance, c } = visit
  const choice = readChoice((name) => c.req.query(name))
  const keys = await callApi('listKeys')
  const shown = { base: instance.base, choice, keys }
  try {
    const report = await makeReport(visit, choice)
    return await showPage(visit, { ...PAGE, content: Usage({ ...shown, report }) })
  } catch (error) {
    const { message, status } = errorForPage(error)
    const content = Usage({ ...shown, report: null, error: `${message}.` })
    return showPage(visit, { ...PAGE, content, status })
  }
}

async function makeReport(visit: UserVisit, choice: UsageChoice): Promise<UsageReport> {
  const dates = daysUpTo(visit.services.now(), PERIODS[choice.period])
  const read = async (by: string): Promise<readonly UsageRow[]> => {
    const query = { ...toQuery(choice, dates), by }
    return (await visit.callApi('getUsageDetails', { query })).rows
  }
  const [days, endpoints, keys] = await Promise.all([
    read(choice.split === 'status' ? 'day,status' : 'day,operation'),
    read('operation,status'),
    read('key,status'),
  ])
  return {
    total: totalOf(endpoints),
    daily:
      choice.split === 'status'
        ? dailyByOutcome(days, dates)
        : dailyByEndpoint(days, dates, endpointName),
    endpoints: totalsBy('operation', endpoints),
    keys: totalsBy('key', keys),
  }
}

/** Answers with a file: all counts of the period and filters that the page shows. */
async function exportUsage({ callApi, c, services }: UserVisit): Promise<PageAnswer> {
  const choice = readChoice((name) => c.req.query(name))
  const query = toQuery(choice, daysUpTo(services.now(), PERIODS[choice.period]))
  const by = USAGE_COLUMNS.join(',')
  const { rows, from, to } = await callApi('getUsageDetails', { query: { ...query, by } })
  const headers = { 'content-disposition': `attachment; filename="usage-${from}-${to}.csv"` }
  return {
    status: 200,
    file: usageCsv(USAGE_COLUMNS, rows),
    type: 'text/csv; charset=utf-8',
    headers,
  }
}

/** Reads the query of the page. Missing and invalid values get their defaults. */
function readChoice(query: (name: string) => string | undefined): UsageChoice {
  return {
    period: nameIn(PERIODS, query('period')) ?? '30d',
    key: query('key') ?? '',
    operation: query('operation') ?? '',
    split: nameIn(SPLITS, query('split')) ?? 'status',
  }
}

function nameIn<Name extends string>(
  table: Readonly<Record<Name, unknown>>,
  text: string | undefined,
): Name | undefined {
  // safe: the tables are constants with no other keys
  return (Object.keys(table) as Name[]).find((name) => name === text)
}

/** The query for the API. */
function toQuery({ key, operation }: UsageChoice, dates: readonly string[]) {
  return { from: dates.at(0), to: dates.at(-1), key, operation }
}
