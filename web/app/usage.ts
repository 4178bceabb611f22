import { keepDrawn } from './chart-parts.ts'
import { filterAtOnce } from './filtering.ts'
import { drawStack, type Part } from './stacked-chart.ts'

drawCharts(document)
const form = document.querySelector<HTMLFormElement>('form.filters')
if (form !== null) filterAtOnce(form, drawCharts)

/** Draws each chart from the table below it. */
function drawCharts(root: ParentNode): void {
  for (const figure of root.querySelectorAll<HTMLElement>('figure.usage-chart')) {
    const holder = figure.querySelector<HTMLElement>('.plot')
    if (holder === null) continue
    const { times, parts } = readFigure(figure)
    keepDrawn(holder, () => drawStack(holder, times, parts))
  }
}

function readFigure(figure: HTMLElement): { times: number[]; parts: Part[] } {
  const days = [...figure.querySelectorAll<HTMLElement>('[data-point]')]
    .map(({ dataset }) => (dataset['point'] ?? '').split(' ').map(Number))
    .reverse()
  const names = [...figure.querySelectorAll('thead th')].map(({ textContent }) => textContent)
  const colors = (figure.dataset['colors'] ?? '').split(' ')
  const parts = colors.map((color, at) => ({
    name: names[at + 1] ?? '',
    color,
    requests: days.map((numbers) => numbers[at + 1] ?? 0),
  }))
  return { times: days.map(([time = 0]) => time), parts }
}
