import { findSiteByDomain } from '../../lib/accounts/sites.ts'
import type { SummaryQuery } from '../../lib/contract/telemetry/telemetry-schemas.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { formatHour } from '../../lib/rum/hour.ts'
import { readPath, readPeriod, readStep } from '../../lib/rum/read/period.ts'
import type { RowFilter } from '../../lib/rum/store/row.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Handlers } from '../context.ts'

export function telemetryHandlers({ db, rum }: Pick<Services, 'db' | 'rum'>) {
  const readFilter = async (query: SummaryQuery, userId: string, now: number) => {
    const { domain, country, device } = query
    const period = readPeriod(query, now)
    const site = await findSiteByDomain(db, userId, domain)
    if (site === null) throw new ApiError('NOT_FOUND', `${domain} is not one of your sites`)
    return { siteId: site.id, period, country, device }
  }
  return {
    getRumSummary: async ({ caller, query, now }) => {
      const filter = await readFilter(query, caller.userId, now)
      const summary = await rum.readSummary(filter)
      return { status: 200, json: headOf(query, filter), bytesAfter: [summary.subarray(1)] }
    },
    getRumOverview: async ({ caller, query, now }) => {
      const filter = await readFilter(query, caller.userId, now)
      const series = readStep(query, filter.period)
      const overview = await rum.readOverview({ ...filter, series, path: readPath(query) })
      return { status: 200, json: headOf(query, filter) + overview.slice(1) }
    },
  } satisfies Partial<Handlers>
}

/** The beginning of a JSON object, with the fields that repeat the query. */
function headOf({ domain }: SummaryQuery, { period }: RowFilter): string {
  const [from, to] = [formatHour(period.from), formatHour(period.to)]
  return `${JSON.stringify({ domain, period: { from, to } }).slice(0, -1)},`
}
