import type uPlot from 'uplot'
import { drawChart, HEIGHT } from './chart.ts'
import { toColumns } from './timeline.ts'

/** The charts of the page, each from the table below it. */
for (const figure of document.querySelectorAll<HTMLElement>('figure[data-vital]')) show(figure)

function show(figure: HTMLElement): void {
  const holder = figure.querySelector<HTMLElement>('.plot')
  if (holder === null) return
  const number = (name: string) => Number(figure.dataset[name])
  const points = [...figure.querySelectorAll<HTMLElement>('[data-point]')]
  const columns = toColumns(
    points.map(({ dataset }) => dataset['point'] ?? ''),
    { from: number('from'), to: number('to'), step: number('step') },
  )
  const toText = figure.dataset['vital'] === 'cls' ? toFraction : toMilliseconds
  const look = { good: number('good'), poor: number('poor'), toText }
  let chart: uPlot | undefined
  const draw = () => {
    chart?.destroy()
    chart = drawChart(holder, columns, look)
  }
  draw()
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw)
  new ResizeObserver(() => chart?.setSize({ width: holder.clientWidth, height: HEIGHT })).observe(
    holder,
  )
}

function toMilliseconds(value: number): string {
  return `${Math.round(value).toLocaleString('en')} ms`
}

function toFraction(value: number): string {
  return String(Math.round(value * 1000) / 1000)
}
