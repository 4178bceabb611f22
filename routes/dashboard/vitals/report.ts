import type { RumOverview, SeriesStep } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { KEPT_DAYS } from '../../../lib/rum/hour.ts'
import type { Services } from '../../../lib/services/services.ts'
import type { Audience, VitalsChoice } from '../../../pages/dashboard/vitals/choice.ts'
import type { Comparison } from '../../../pages/dashboard/vitals/comparison.tsx'
import { firstAudience } from '../../../pages/dashboard/vitals/rating.ts'
import type { VitalsReport } from '../../../pages/dashboard/vitals/vitals.tsx'
import { errorForPage, getOperation } from '../request/call-api.ts'
import { periodBefore, stepOf, toPeriod, toQuery } from './choice.ts'

type Query = ReturnType<typeof toQuery>

/** Performs `getRumOverview` for whoever looks at the page. */
export type ReadOverview = (query: Query & { readonly series?: SeriesStep }) => Promise<RumOverview>

/** Reads what the page shows of `choice.site`. Throws the ApiError of the operation. */
export async function makeReport(
  { now: clock, baseUrl }: Pick<Services, 'now' | 'baseUrl'>,
  readOverview: ReadOverview,
  choice: VitalsChoice,
): Promise<VitalsReport> {
  const now = clock()
  const period = toPeriod(choice, now)
  const step = choice.path === '' ? stepOf(period) : 'day'
  const read = (audience: Audience, series: SeriesStep | undefined) =>
    readOverview({ ...toQuery(choice, audience, period), ...(series && { series }) })
  // All devices are read to judge each kind, then those that are shown.
  const wanted = choice.device
  const all = await read('all', wanted === 'all' ? step : undefined)
  const audience = wanted || firstAudience(all.devices)
  const before = periodBefore(period, now)
  const [overview, comparison] = await Promise.all([
    wanted === 'all' ? all : read(audience, step),
    compare(readOverview, before && toQuery(choice, audience, before)),
  ])
  return {
    overview,
    audience,
    devices: all.devices,
    step,
    comparison,
    curl: toCurl(baseUrl(), toQuery({ ...choice, path: '' }, audience, period)),
    asOf: new Date(now).toISOString(),
  }
}

/** An error costs only the comparison, not the page. `before`: null if its data is deleted. */
async function compare(readOverview: ReadOverview, before: Query | null): Promise<Comparison> {
  if (before === null) return { kind: 'deleted', keptDays: KEPT_DAYS }
  try {
    return { kind: 'made', before: (await readOverview(before)).metrics }
  } catch (error) {
    return { kind: 'failed', reason: errorForPage(error).message }
  }
}

function toCurl(baseUrl: string, query: Query): string {
  const url = `${baseUrl}${getOperation('getRumSummary').path}?${new URLSearchParams(query)}`
  return `curl -H "X-API-Key: $KEY" "${url}"`
}
