import { listReplacedIds } from '../../lib/access/keys.ts'
import { daysUpTo, monthOf, paidPeriod } from '../../lib/config/period.ts'
import type { SubscriptionResponse } from '../../lib/contract/billing/billing-schemas.ts'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { Overview } from '../../pages/dashboard/overview/overview.tsx'
import { RANGES, type RangeName, requestsOf } from '../../pages/dashboard/overview/requests.ts'
import type { SiteGlance } from '../../pages/dashboard/overview/troubles.tsx'
import type { PageAnswer } from '../pages/page.ts'
import { showPage } from './request/answer.ts'
import { orNull } from './request/call-api.ts'
import type { UserVisit } from './request/visit.ts'
import { readChoice, toPeriod, toQuery } from './vitals/choice.ts'

/** Each costs an operation, and only one of them is shown. */
const MOST_SITES = 3

export async function showOverview(visit: UserVisit): Promise<PageAnswer> {
  const { callApi, instance, services, me, c } = visit
  const now = services.now()
  const range = readRange(c.req.query('days'))
  const dates = daysUpTo(now, 2 * RANGES[range])
  const counts = { from: dates.at(0), to: dates.at(-1), by: 'day,operation,status' }
  const [usage, current, overages, keys, details, sites] = await Promise.all([
    callApi('getUsage'),
    orNull(callApi('getSubscription', { query: {} })),
    orNull(callApi('getOverages')),
    callApi('listKeys'),
    callApi('getUsageDetails', { query: counts }),
    readSites(visit, now),
  ])
  const replaced = await listReplacedIds(services.db, me.id)
  const content = Overview({
    base: instance.base,
    url: services.baseUrl(),
    usage,
    plan: current?.plan ?? null,
    resetsAt: new Date(periodEnd(current, now)).toISOString(),
    overages,
    keys,
    replaced,
    now,
    requests: requestsOf(details.rows, dates, range),
    ...sites,
  })
  return showPage(visit, { title: 'Overview', content, assets: ['usage.js'] })
}

function readRange(text: string | undefined): RangeName {
  return text === '7' ? '7' : '30'
}

/** When the counted requests begin at zero again. */
function periodEnd(current: SubscriptionResponse | null, now: number): number {
  const { currentPeriodStart, currentPeriodEnd } = current?.subscription ?? {}
  if (currentPeriodStart == null || currentPeriodEnd == null) return monthOf(now).end
  const [start, end] = [Date.parse(currentPeriodStart), Date.parse(currentPeriodEnd)]
  const interval = end - start > 40 * DAY_MS ? 'year' : 'month'
  return paidPeriod({ start, end, interval }, now).end
}

/** The last week of the first sites, and how many sites there are. */
async function readSites({ callApi }: UserVisit, now: number) {
  const sites = await callApi('listSites')
  const read = async (name: string) => {
    const choice = readChoice(() => undefined, [name])
    const query = toQuery(choice, 'all', toPeriod(choice, now))
    return { name, overview: await orNull(callApi('getRumOverview', { query })) }
  }
  const glances: SiteGlance[] = await Promise.all(
    sites.slice(0, MOST_SITES).map(({ name }) => read(name)),
  )
  return { sites: glances, siteCount: sites.length }
}
