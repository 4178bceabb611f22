import * as v from 'valibot'
import { planInEffect } from '../../lib/config/entitlement.ts'
import { dateOfDay, dayOf, monthOf } from '../../lib/config/period.ts'
import { parse } from '../../lib/parts/parse.ts'
import type { Services } from '../../lib/services/services.ts'
import { readDaysOfAll, readTopKeys, readTopUsers } from '../../lib/usage/usage-of-all.ts'
import { endpointName } from '../../pages/dashboard/usage/endpoints.ts'
import { dailyByEndpoint, dailyByOutcome } from '../../pages/dashboard/usage/report.ts'
import { keyName } from '../../pages/dashboard/usage/usage.tsx'
import {
  UsageOfAll,
  type UsageOfAllChoice,
  type UsageOfAllList,
} from '../../pages/operate/usage.tsx'
import { showOperatePage } from '../dashboard/request/answer.ts'
import type { UserVisit } from '../dashboard/request/visit.ts'
import type { PageAnswer } from '../pages/page.ts'
import { splitPage } from './paging.ts'

const PAGE_SIZE = 50
const SHOWN_MONTHS = 12

/** Shows the requests of all users in a month: by day, and by user or key. */
export async function showUsageOfAll(visit: UserVisit): Promise<PageAnswer> {
  const { services, instance, c } = visit
  const months = lastMonths(services.now())
  const choice = parse(querySchema(months), c.req.query())
  const { list, hasMore } = await readList(services, choice)
  const daily = await readDaily(services, choice)
  const content = UsageOfAll({ base: instance.base, choice, months, daily, list, hasMore })
  return showOperatePage(visit, { title: 'Usage', content, assets: ['usage.js'] })
}

/** The month of the query, such as 2026-01; default: this one. */
export function readMonth({ services, c }: UserVisit): string {
  return parse(querySchema(lastMonths(services.now())), c.req.query()).month
}

/** Newest first, such as 2026-01. */
export function lastMonths(now: number): string[] {
  const months: string[] = []
  for (let { start } = monthOf(now); months.length < SHOWN_MONTHS; { start } = monthOf(start - 1)) {
    months.push(dateOfDay(dayOf(start)).slice(0, 7))
  }
  return months
}

function querySchema(months: readonly string[]) {
  return v.object({
    month: v.optional(v.picklist(months, 'is not a month that is shown'), months[0] ?? ''),
    split: v.optional(v.picklist(['status', 'endpoint'], 'is not a split'), 'status'),
    list: v.optional(v.picklist(['users', 'keys', 'limited'], 'is not a list'), 'users'),
    page: v.optional(
      v.pipe(v.string(), v.regex(/^[1-9]\d{0,6}$/, 'is not a page'), v.toNumber()),
      '1',
    ),
  })
}

async function readDaily({ storage, now }: Services, { month, split }: UsageOfAllChoice) {
  const { start, end } = monthOf(Date.parse(`${month}-01`))
  const days = { from: dayOf(start), to: Math.min(dayOf(end) - 1, dayOf(now())) }
  const dates = Array.from({ length: days.to - days.from + 1 }, (_, n) => dateOfDay(days.from + n))
  const column = split === 'status' ? 'status' : 'operation'
  const rows = await readDaysOfAll(storage.longReads, days, column)
  return split === 'status'
    ? dailyByOutcome(rows, dates)
    : dailyByEndpoint(rows, dates, endpointName)
}

async function readList(
  services: Services,
  { month, list, page }: UsageOfAllChoice,
): Promise<{ readonly list: UsageOfAllList; readonly hasMore: boolean }> {
  const { longReads } = services.storage
  const wanted = {
    month: dayOf(Date.parse(`${month}-01`)),
    limit: PAGE_SIZE + 1,
    offset: (page - 1) * PAGE_SIZE,
  }
  if (list === 'keys') {
    const { rows, last } = splitPage(await readTopKeys(longReads, wanted), PAGE_SIZE)
    const shown = rows.map((row) => ({ ...row, key: keyName(row.keyId, row.key) }))
    return { list: { of: 'keys', rows: shown }, hasMore: last !== undefined }
  }
  const order = list === 'limited' ? 'limited' : 'requests'
  const { rows, last } = splitPage(await readTopUsers(longReads, { ...wanted, order }), PAGE_SIZE)
  const shown = rows.map((row) => ({ ...row, plan: planInEffect(row, services.plans).name }))
  return { list: { of: 'users', rows: shown }, hasMore: last !== undefined }
}
