import { setImmediate as nextTurn } from 'node:timers/promises'
import { byVital, METRICS, type Metric } from '../../contract/telemetry/metrics.ts'
import type {
  MetricOverview,
  RumOverview,
  SeriesPoint,
  SeriesStep,
} from '../../contract/telemetry/telemetry-overview.ts'
import { dayOfHour, formatHour, HOURS_OF_DAY, hourOf } from '../hour.ts'
import { Centroids } from '../sketch/centroids.ts'
import { addCentroids } from '../sketch/measures-blob.ts'
import type { CountTotal, ErrorTotal } from '../store/counts.ts'
import type { RowFilter, SpanRow } from '../store/row.ts'
import { readAttribution } from './attribution.ts'
import { type DecodedRow, Group, Grouping } from './groups.ts'
import { daysOf, splitPeriod } from './period.ts'
import type { ReadStore } from './read-store.ts'

/** An overview without the fields that repeat the query. */
type Overview = Omit<RumOverview, 'domain' | 'period'>

export interface OverviewFilter extends RowFilter {
  /** undefined: no series. */
  readonly series?: SeriesStep | undefined
  /** undefined: all pages. Else no country is given, and the series is not by hour. */
  readonly path?: string | undefined
}

const TOP = 20

/** Sums up the stored rows of a period. Lets other requests run in between. */
export async function readOverview(store: ReadStore, filter: OverviewFilter): Promise<Overview> {
  // With all metrics, so that these groups add up to the total: adding each row to a total would take longer.
  const devices = new Grouping(METRICS)
  const countries = new Grouping()
  const series = filter.series && new Series(filter.series)
  const centroids = new Centroids()
  for await (const page of readSpans(store, filter)) {
    for (const { hour, country, device, samples, sketches } of page) {
      const row = { samples, measures: addCentroids(centroids, sketches) }
      devices.add(device, row)
      countries.add(country, row)
      series?.add(hour, row)
    }
    await nextTurn()
  }
  const total = devices.total()
  const counts = await store.totalCounts(filter)
  return {
    sampleCount: total.samples,
    metrics: await toMetrics(total),
    devices: await describeGroups(devices, (deviceType) => ({ deviceType })),
    countries: await describeGroups(countries, (country) => ({ country })),
    paths: await readPaths(store, filter),
    attribution: await readAttribution(store, filter),
    connections: toConnections(counts),
    errors: await readErrors(store, filter),
    ...(series && { series: series.points() }),
    beacons: toBeacons(counts),
  }
}

/** Reads whole days from the daily rows, unless the series is by hour. */
async function* readSpans(store: ReadStore, filter: OverviewFilter): AsyncGenerator<SpanRow[]> {
  const { period, path } = filter
  if (path !== undefined) return yield store.pathRows({ ...filter, period: daysOf(period) }, path)
  if (filter.series === 'hour') return yield* store.readHours(filter)
  const { before, days, after } = splitPeriod(filter.period)
  if (before !== undefined) yield* store.readHours({ ...filter, period: before })
  if (days !== undefined) yield* store.readDays({ ...filter, period: days })
  if (after !== undefined) yield* store.readHours({ ...filter, period: after })
}

/** `identify` turns a group's name (null: unknown) into the fields that identify it. */
async function describeGroups<Id>(grouping: Grouping, identify: (name: string | null) => Id) {
  const groups: (Id & ReturnType<Group['toWire']>)[] = []
  for (const [name, group] of grouping.list()) {
    groups.push({ ...identify(name || null), ...group.toWire() })
    await nextTurn()
  }
  return groups
}

async function toMetrics(total: Group): Promise<Overview['metrics']> {
  const metrics: Partial<Record<Metric, MetricOverview>> = {}
  for (const metric of METRICS) {
    await nextTurn()
    metrics[metric] = total.metric(metric)
  }
  return metrics as Overview['metrics'] // safe: each metric has an overview
}

async function readPaths(store: ReadStore, filter: OverviewFilter): Promise<Overview['paths']> {
  const inDays = { ...filter, period: daysOf(filter.period) }
  const paths: Overview['paths'] = []
  const shown = filter.path === undefined ? await store.topPaths(inDays, TOP) : [filter.path]
  for (const path of shown) {
    const group = new Group()
    const centroids = new Centroids()
    for (const { samples, sketches } of await store.pathRows(inDays, path)) {
      group.add({ samples, measures: addCentroids(centroids, sketches) })
    }
    if (group.samples > 0) paths.push({ path, ...group.toWire() })
    await nextTurn()
  }
  return paths
}

function toConnections(counts: readonly CountTotal[]): Overview['connections'] {
  return counts
    .filter(({ kind }) => kind === 'connection')
    .map(({ label, count }) => ({ connectionType: label, count }))
}

async function readErrors(store: ReadStore, filter: RowFilter): Promise<Overview['errors']> {
  const { siteId } = filter
  const top = [...(await totalErrors(store, filter)).values()].sort(compareTotals).slice(0, TOP)
  const errors: Overview['errors'] = []
  for (const { hash, count, firstAt, lastAt } of top) {
    const sample = await store.findErrorSample({ siteId, day: dayOfHour(hourOf(firstAt)), hash })
    if (sample === undefined) continue // removed a moment ago, because it is too old
    const firstSeenAt = new Date(firstAt).toISOString()
    errors.push({ ...sample, count, firstSeenAt, lastSeenAt: new Date(lastAt).toISOString() })
  }
  return errors
}

/** Sums up the errors of each kind, day by day. */
async function totalErrors(store: ReadStore, { siteId, period }: RowFilter) {
  const totals = new Map<string, ErrorTotal>()
  for (let from = period.from; from <= period.to; from += HOURS_OF_DAY) {
    const to = Math.min(period.to, from + HOURS_OF_DAY - 1)
    for (const total of await store.totalErrors(siteId, { from, to })) {
      const known = totals.get(total.hash)
      if (known === undefined) totals.set(total.hash, total)
      else {
        known.count += total.count
        known.lastAt = Math.max(known.lastAt, total.lastAt)
      }
    }
    await nextTurn()
  }
  return totals
}

function compareTotals(a: ErrorTotal, b: ErrorTotal): number {
  return b.count - a.count || (a.hash < b.hash ? -1 : 1)
}

function toBeacons(counts: readonly CountTotal[]): Overview['beacons'] {
  const find = (label: string) =>
    counts.find((total) => total.kind === 'beacon' && total.label === label)
  const accepted = find('accepted')
  return {
    accepted: accepted?.count ?? 0,
    bots: find('bot')?.count ?? 0,
    refused: find('queue-full')?.count ?? 0,
    droppedValues: find('out-of-range')?.count ?? 0,
    lastHour: accepted === undefined ? null : formatHour(accepted.lastHour),
  }
}

/** The vitals of each hour or day. Rows must be added in chronological order. */
class Series {
  readonly #stepHours: number
  readonly #points: SeriesPoint[] = []
  #from = 0
  #group = new Group()

  constructor(step: SeriesStep) {
    this.#stepHours = step === 'hour' ? 1 : HOURS_OF_DAY
  }

  add(hour: number, row: DecodedRow): void {
    const from = hour - (hour % this.#stepHours)
    if (from !== this.#from) this.#close()
    this.#from = from
    this.#group.add(row)
  }

  /** The points so far, without empty hours or days. */
  points(): SeriesPoint[] {
    this.#close()
    return this.#points
  }

  #close(): void {
    if (this.#group.samples > 0) this.#points.push(toPoint(this.#from, this.#group))
    this.#group = new Group()
  }
}

function toPoint(hour: number, group: Group): SeriesPoint {
  const vitals = byVital((vital) => group.point(vital))
  return { from: formatHour(hour), sampleCount: group.samples, ...vitals }
}
