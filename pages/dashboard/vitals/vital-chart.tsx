import type { SeriesPoint, SeriesStep } from '../../../lib/contract/telemetry-overview.ts'
import { VITAL_THRESHOLDS, type Vital } from '../../../lib/contract/vitals.ts'
import { count, hourText } from '../words.ts'
import { VITAL_NAMES, valueText } from './rating.ts'

export interface Timeline {
  readonly step: SeriesStep
  /** First and last hour, as the API has them. */
  readonly from: string
  readonly to: string
  /** Oldest first. What has no beacons is not among them. */
  readonly points: readonly SeriesPoint[]
}

interface VitalChartProps {
  readonly vital: Vital
  readonly timeline: Timeline
}

const STEP_SECONDS = { hour: 3_600, day: 86_400 } as const

/** A vital over time. The script draws it above the table, from which it has the numbers. */
export function VitalChart({ vital, timeline }: VitalChartProps) {
  const { step, from, to, points } = timeline
  const { good, poor } = VITAL_THRESHOLDS[vital]
  const name = `${vital.toUpperCase()} by ${step}`
  return (
    <figure
      class="vital-chart card"
      data-vital={vital}
      data-from={seconds(from)}
      data-to={seconds(to)}
      data-step={STEP_SECONDS[step]}
      data-good={good}
      data-poor={poor}
    >
      <figcaption>
        <h3>{name}</h3>
      </figcaption>
      <div
        class="plot"
        role="img"
        aria-label={`${VITAL_NAMES[vital]}: p50, p75 and p95 by ${step}`}
      />
      <details>
        <summary>{name} as a table</summary>
        <section class="wide" tabindex={0} aria-label={`Table of ${name}`}>
          <table>
            <thead>
              <tr>
                <th scope="col">{step === 'hour' ? 'Hour' : 'Day'} (UTC)</th>
                <th scope="col">p50</th>
                <th scope="col">p75</th>
                <th scope="col">p95</th>
                <th scope="col">Values</th>
              </tr>
            </thead>
            <tbody>
              {points.map((point) => (
                <Row vital={vital} step={step} point={point} />
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </figure>
  )
}

interface RowProps {
  readonly vital: Vital
  readonly step: SeriesStep
  readonly point: SeriesPoint
}

function Row({ vital, step, point }: RowProps) {
  const { p50, p75, p95, sampleCount } = point[vital]
  const text = (value: number | null) => (value === null ? '–' : valueText(vital, value))
  return (
    <tr data-point={[seconds(point.from), p50, p75, p95, sampleCount].join(' ')}>
      <th scope="row">{step === 'hour' ? hourText(point.from) : point.from.slice(0, 10)}</th>
      <td>{text(p50)}</td>
      <td>{text(p75)}</td>
      <td>{text(p95)}</td>
      <td>{count(sampleCount)}</td>
    </tr>
  )
}

/** Unix time of an hour as the API has it. */
function seconds(hour: string): number {
  return Date.parse(`${hour}:00:00Z`) / 1000
}
