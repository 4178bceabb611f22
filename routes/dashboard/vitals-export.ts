import { VITALS } from '../../lib/contract/telemetry/metrics.ts'
import type { RumSummary } from '../../lib/contract/telemetry/telemetry-schemas.ts'
import type { PageAnswer } from '../pages/page.ts'
import type { UserVisit } from './request/visit.ts'
import { readChoice, toPeriod, toQuery } from './vitals-choice.ts'

/** Answers with a file: the summary of the site, period and filters that the page shows. */
export async function exportVitals({ callApi, c, services }: UserVisit): Promise<PageAnswer> {
  const choice = readChoice((name) => c.req.query(name), [])
  const query = toQuery(choice, toPeriod(choice, services.now()))
  const summary = await callApi('getRumSummary', { query })
  return c.req.query('format') === 'csv'
    ? toFile(toCsv(summary.metrics), 'csv', 'text/csv; charset=utf-8')
    : toFile(JSON.stringify(summary), 'json', 'application/json')
}

function toFile(file: string, extension: string, type: string): PageAnswer {
  const disposition = `attachment; filename="web-vitals.${extension}"`
  return { status: 200, file, type, headers: { 'content-disposition': disposition } }
}

const PERCENTILES = ['p50', 'p75', 'p95'] as const

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
