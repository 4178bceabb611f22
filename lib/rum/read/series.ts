import type { SeriesPoint, SeriesStep } from '../contract/telemetry-overview.ts'
import { Group } from './groups.ts'
import { formatHour, HOURS_OF_DAY } from './hour.ts'
import type { Metric } from './metrics.ts'
import type { SpanRow } from './overview-store.ts'

/** The vitals of each hour or day, from rows in the order of time: one is told when the next begins. */
export class Series {
  readonly #stepHours: number
  readonly #points: SeriesPoint[] = []
  #from = 0
  #group = new Group()

  constructor(step: SeriesStep) {
    this.#stepHours = step === 'hour' ? 1 : HOURS_OF_DAY
  }

  add(row: SpanRow): void {
    const from = row.hour - (row.hour % this.#stepHours)
    if (from !== this.#from) this.#close()
    this.#from = from
    this.#group.add(row)
  }

  /** What has been added, without the hours or days that have nothing. */
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
  const of = (metric: Metric) => {
    const { ratings: _, ...told } = group.tell(metric)
    return told
  }
  const vitals = {
    lcp: of('lcp'),
    inp: of('inp'),
    cls: of('cls'),
    ttfb: of('ttfb'),
    fid: of('fid'),
  }
  return { from: formatHour(hour), sampleCount: group.samples, ...vitals }
}
