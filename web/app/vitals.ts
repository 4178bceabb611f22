import { METRIC_RULES, VITALS } from '../../lib/contract/telemetry/metrics.ts'
import { valueText } from '../../lib/contract/telemetry/rating.ts'
import { drawChart } from './chart.ts'
import { keepDrawn } from './chart-parts.ts'
import { offerCopying } from './copying.ts'
import { filterAtOnce } from './filtering.ts'
import { toColumns } from './timeline.ts'

drawCharts(document)
const form = document.querySelector<HTMLFormElement>('form.filters')
if (form !== null) {
  filterAtOnce(form, (report) => {
    drawCharts(report)
    offerCopying(report)
  })
}

/** Draws each chart from the table below it. */
function drawCharts(root: ParentNode): void {
  for (const figure of root.querySelectorAll<HTMLElement>('figure[data-vital]')) show(figure)
}

function show(figure: HTMLElement): void {
  const holder = figure.querySelector<HTMLElement>('.plot')
  const vital = VITALS.find((name) => name === figure.dataset['vital'])
  if (holder === null || vital === undefined) return
  const number = (name: string) => Number(figure.dataset[name])
  const points = [...figure.querySelectorAll<HTMLElement>('[data-point]')]
  const columns = toColumns(
    points.map(({ dataset }) => dataset['point'] ?? ''),
    { from: number('from'), to: number('to'), step: number('step') },
  )
  const { good, poor } = METRIC_RULES[vital]
  const look = {
    good,
    poor,
    step: number('step'),
    toText: (value: number) => valueText(vital, value),
  }
  keepDrawn(holder, () => drawChart(holder, columns, { ...look, now: Date.now() / 1000 }))
}
