import { byVital } from '../../contract/telemetry/metrics.ts'
import type { SeriesPoint, SeriesStep } from '../../contract/telemetry/telemetry-overview.ts'
import { formatHour, HOURS_OF_DAY } from '../hour.ts'
import { type DecodedRow, Group } from './groups.ts'

/** The vitals of each hour or day. Rows must be added in chronological order. */
export class Series {
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
  const vitals = byVital((vital) => {
    const { ratings: _, ...point } = group.metric(vital)
    return point
  })
  return { from: formatHour(hour), sampleCount: group.samples, ...vitals }
}
