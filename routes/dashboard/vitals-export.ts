import type { RumSummary } from '../../lib/contract/telemetry-schemas.ts'
import type { Vital } from '../../lib/contract/vitals.ts'
import type { PageAnswer } from '../page.ts'
import type { UserVisit } from './visit.ts'
import { readChoice, toPeriod, toQuery } from './vitals-choice.ts'

/** The summary of what the page shows, as a file. */
export async function exportVitals({ ask, c, services }: UserVisit): Promise<PageAnswer> {
  const choice = readChoice((name) => c.req.query(name), [])
  const query = toQuery(choice, toPeriod(choice, services.now()))
  const summary = await ask('getRumSummary', { query })
  return c.req.query('format') === 'csv'
    ? toFile(toCsv(summary.metrics), 'csv', 'text/csv; charset=utf-8')
    : toFile(JSON.stringify(summary), 'json', 'application/json')
}

function toFile(file: string, extension: string, type: string): PageAnswer {
  const disposition = `attachment; filename="web-vitals.${extension}"`
  return { status: 200, file, type, headers: { 'content-disposition': disposition } }
}

const VITALS = ['lcp', 'inp', 'cls', 'ttfb', 'fid'] as const satisfies Vital[]
const SHARES = ['p50', 'p75', 'p95'] as const

/** Hours, codes and numbers: nothing in it needs quotes. */
function toCsv(rows: RumSummary['metrics']): string {
  const columns = VITALS.flatMap((vital) => SHARES.map((share) => `${vital}_${share}`))
  const lines = rows.map(({ hour, country, deviceType, sampleCount, ...vitals }) => [
    ...[hour, country, deviceType, sampleCount],
    ...VITALS.flatMap((vital) => SHARES.map((share) => vitals[vital][share])),
  ])
  const head = ['hour', 'country', 'deviceType', 'sampleCount', ...columns]
  return [head, ...lines].map((line) => `${line.join(',')}\n`).join('')
}
