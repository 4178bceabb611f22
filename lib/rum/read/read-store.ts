import type { TelemetryPeriod } from '../hour.ts'
import type { CountTotal, ErrorSample, ErrorTotal, SampleKey } from '../store/counts.ts'
import type { RowFilter, Sketches, SpanRow, SummaryRow } from '../store/row.ts'

type Now<Result> = Result | Promise<Result>
type Pages = Iterable<SpanRow[]> | AsyncIterable<SpanRow[]>

/** What summaries and overviews read. SQLite answers at once, other databases later. */
export interface ReadStore {
  /** The hourly rows with their percentiles, sorted by hour, country and device. */
  listSummary(filter: RowFilter): Now<SummaryRow[]>
  /** The hourly rows by time, in pages. */
  readHours(filter: RowFilter): Pages
  /** The daily rows in the same way. `hour` is the first hour of the day. */
  readDays(filter: RowFilter): Pages
  /** The pages with the most samples, in a period of days. */
  topPaths(siteId: string, days: TelemetryPeriod, limit: number): Now<string[]>
  pathRows(siteId: string, days: TelemetryPeriod, path: string): Now<Sketches[]>
  /** The errors of the period, from all devices and countries. */
  totalErrors(siteId: string, period: TelemetryPeriod): Now<ErrorTotal[]>
  /** The first error of a kind on a day; undefined if none. */
  findErrorSample(key: SampleKey): Now<ErrorSample | undefined>
  totalCounts(filter: RowFilter): Now<CountTotal[]>
}
