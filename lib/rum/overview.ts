import type { RumOverview, SeriesStep } from '../contract/telemetry-overview.ts'
import type { Db } from '../db/open.ts'
import { allMetrics, Group, Grouping } from './groups.ts'
import { formatHour } from './hour.ts'
import type { Metric } from './metrics.ts'
import {
  type CountTotal,
  createOverviewStore,
  type ErrorTotal,
  type OverviewStore,
  type SpanRow,
} from './overview-store.ts'
import { daysOf, splitPeriod } from './period.ts'
import { Series } from './series.ts'
import type { RowFilter } from './summary.ts'

/** All of an overview but the words of the query. */
type Overview = Omit<RumOverview, 'domain' | 'period'>
export type ReadOverview = (filter: OverviewFilter) => Promise<Overview>

export interface OverviewFilter extends RowFilter {
  /** Undefined: the period only as one. */
  readonly series?: SeriesStep | undefined
}

const TOP = 20

/** Sums up what is stored of a period. Others may run meanwhile. */
export function createReadOverview(db: Db): ReadOverview {
  const store = createOverviewStore(db)
  return async (filter) => {
    const total = allMetrics()
    const devices = new Grouping<string>()
    const countries = new Grouping<string>()
    const series = filter.series && new Series(filter.series)
    for (const page of readSpans(store, filter)) {
      for (const row of page) {
        total.add(row)
        devices.add(row.device, row)
        countries.add(row.country, row)
        series?.add(row)
      }
      await nextTurn()
    }
    const counts = store.counts(filter)
    return {
      sampleCount: total.samples,
      metrics: await tellMetrics(total),
      devices: await tellEach(devices, (deviceType) => ({ deviceType })),
      countries: await tellEach(countries, (country) => ({ country })),
      paths: await tellPaths(store, filter),
      connections: toConnections(counts),
      errors: store.topErrors(filter, TOP).map(toErrorGroup),
      ...(series && { series: series.points() }),
      beacons: toBeacons(counts),
    }
  }
}

/** Whole days as such, unless their hours are asked for. */
function* readSpans(store: OverviewStore, filter: OverviewFilter): Generator<SpanRow[]> {
  if (filter.series === 'hour') return yield* store.hours(filter)
  const { before, days, after } = splitPeriod(filter.period)
  if (before !== undefined) yield* store.hours({ ...filter, period: before })
  if (days !== undefined) yield* store.days({ ...filter, period: days })
  if (after !== undefined) yield* store.hours({ ...filter, period: after })
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function tell(group: Group) {
  return { sampleCount: group.samples, p75: group.p75() }
}

/** `toHead` makes of a name, null where it is unknown, what says which group is told of. */
async function tellEach<Head>(
  groups: Grouping<string>,
  toHead: (name: string | null) => Head,
): Promise<(Head & ReturnType<typeof tell>)[]> {
  const told: (Head & ReturnType<typeof tell>)[] = []
  for (const [name, group] of groups.list()) {
    told.push({ ...toHead(name || null), ...tell(group) })
    await nextTurn()
  }
  return told
}

async function tellMetrics(total: Group): Promise<Overview['metrics']> {
  const of = async (metric: Metric) => {
    await nextTurn()
    return total.tell(metric)
  }
  return {
    lcp: await of('lcp'),
    inp: await of('inp'),
    cls: await of('cls'),
    ttfb: await of('ttfb'),
    fid: await of('fid'),
    dns: await of('dns'),
    tls: await of('tls'),
    request: await of('request'),
    response: await of('response'),
  }
}

async function tellPaths(store: OverviewStore, filter: RowFilter): Promise<Overview['paths']> {
  const days = { ...filter, period: daysOf(filter.period) }
  const paths: Overview['paths'] = []
  for (const path of store.topPaths(days, TOP)) {
    const group = new Group()
    for (const row of store.pathRows(days, path)) group.add(row)
    paths.push({ path, ...tell(group) })
    await nextTurn()
  }
  return paths
}

function toConnections(counts: readonly CountTotal[]): Overview['connections'] {
  return counts
    .filter(({ kind }) => kind === 'connection')
    .map(({ label, count }) => ({ connectionType: label, count }))
}

function toErrorGroup({ count, firstAt, lastAt, sample }: ErrorTotal): Overview['errors'][number] {
  return {
    ...sample,
    count,
    firstSeenAt: new Date(firstAt).toISOString(),
    lastSeenAt: new Date(lastAt).toISOString(),
  }
}

function toBeacons(counts: readonly CountTotal[]): Overview['beacons'] {
  const of = (label: string) => counts.find((one) => one.kind === 'beacon' && one.label === label)
  const accepted = of('accepted')
  return {
    accepted: accepted?.count ?? 0,
    bots: of('bot')?.count ?? 0,
    refused: of('queue-full')?.count ?? 0,
    droppedValues: of('out-of-range')?.count ?? 0,
    lastHour: accepted === undefined ? null : formatHour(accepted.lastHour),
  }
}
