import type { Child } from 'hono/jsx'
import { METRIC_RULES, ruleOf, type Vital } from '../../../lib/contract/telemetry/metrics.ts'
import { columnText, valueText } from '../../../lib/contract/telemetry/rating.ts'
import type {
  RumOverview,
  SeriesPoint,
  SeriesStep,
} from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { numbers, Table } from '../../table.tsx'
import { Card } from '../parts/card.tsx'
import { ChoiceLinks } from '../parts/choice-links.tsx'
import { count, startOfHour } from '../parts/format.ts'
import { RATING_LABELS } from '../parts/rated.tsx'
import { Time } from '../parts/time.tsx'
import type { LinkTo } from './choice.ts'
import { CURRENT_VITALS } from './rating.ts'

interface VitalChartProps {
  readonly vital: Vital
  readonly step: SeriesStep
  /** Hours or days without beacons are missing from its series. */
  readonly overview: RumOverview
  readonly linkTo: LinkTo
}

const STEP_SECONDS = { hour: 3_600, day: 86_400 } as const

/** A vital over time. A script reads the numbers from the table and draws a chart above it. */
export function VitalChart({ vital, step, overview, linkTo }: VitalChartProps) {
  const { period, series = [] } = overview
  const name = `${vital.toUpperCase()} by ${step}`
  const links = CURRENT_VITALS.map((metric) => {
    const text = <abbr title={ruleOf(metric).name}>{metric.toUpperCase()}</abbr>
    return { text, href: linkTo({ metric }, 'chart'), isChosen: metric === vital }
  })
  return (
    <Card id="chart" title={`${METRIC_RULES[vital].name} by ${step}`}>
      <ChoiceLinks label="Metric" look="tabs" links={links} />
      <figure
        aria-label={name}
        data-vital={vital}
        data-from={seconds(period.from)}
        data-to={seconds(period.to)}
        data-step={STEP_SECONDS[step]}
      >
        <Key vital={vital} />
        <div class="plot" />
        <details>
          <summary>{name} as a table</summary>
          <section class="wide" tabindex={0} aria-label={`Table of ${name}`}>
            <Table
              heads={[
                `${step === 'hour' ? 'Hour' : 'Day'} (UTC)`,
                ...numbers('p50', 'p75', 'p95', 'Values'),
              ]}
              rows={rowsOf(vital, step, series)}
              points={series.map(({ from, [vital]: { p50, p75, p95, sampleCount } }) =>
                [seconds(from), p50, p75, p95, sampleCount].join(' '),
              )}
            />
          </section>
        </details>
      </figure>
    </Card>
  )
}

/** What the colours and dashes of the chart mean, beside it, where they hide no values. */
function Key({ vital }: Pick<VitalChartProps, 'vital'>) {
  const { good, poor } = METRIC_RULES[vital]
  const bands = [
    ['good', ` up to ${valueText(vital, good)}`],
    ['needs-improvement', ` up to ${valueText(vital, poor)}`],
    ['poor', ''],
  ] as const
  return (
    <figcaption>
      <span class="chips">
        {bands.map(([rating, bound]) => (
          <span class={`rated whole ${rating}`}>
            {RATING_LABELS[rating]}
            {bound}
          </span>
        ))}
      </span>
      <span>Dashed: few values, or still running</span>
    </figcaption>
  )
}

function rowsOf(vital: Vital, step: SeriesStep, series: readonly SeriesPoint[]): Child[][] {
  const text = columnText(
    vital,
    series.map(({ [vital]: { p75 } }) => p75),
  )
  return series.map((point) => cellsOf(point, point[vital], step, text))
}

function cellsOf(
  point: SeriesPoint,
  { p50, p75, p95, sampleCount }: SeriesPoint[Vital],
  step: SeriesStep,
  toText: (value: number) => string,
): Child[] {
  const text = (value: number | null) => (value === null ? '–' : toText(value))
  const precision = step === 'hour' ? 'minute' : 'day'
  const time = <Time at={startOfHour(point.from)} precision={precision} />
  return [time, text(p50), text(p75), text(p95), count(sampleCount)]
}

/** The Unix time of an hour in the format of the API. */
function seconds(hour: string): number {
  return Date.parse(startOfHour(hour)) / 1000
}
