import { keepDrawn } from './chart-parts.ts'
import { fetchPage } from './fetch-page.ts'
import { drawStack, type Part } from './stacked-chart.ts'

/** The parts of the page that depend on the filters. The first is read out when it changes. */
const PARTS = ['summary', 'report']

const form = document.querySelector<HTMLFormElement>('form.usage-filters')
drawCharts()
if (form !== null) showAtOnce(form)

/** Draws each chart from the table below it. */
function drawCharts(): void {
  for (const figure of document.querySelectorAll<HTMLElement>('figure.usage-chart')) {
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

/** Shows what was chosen without a button. The focus stays in the form. */
function showAtOnce(choice: HTMLFormElement): void {
  const button = choice.querySelector('button')
  if (button !== null) button.hidden = true
  let loading = new AbortController()
  const show = async () => {
    loading.abort()
    loading = new AbortController()
    const { signal } = loading
    const url = `${choice.action}?${chosen(choice)}`
    try {
      const page = await fetchPage(url, signal)
      for (const id of PARTS) {
        const fresh = page.getElementById(id)?.childNodes ?? []
        document.getElementById(id)?.replaceChildren(...fresh)
      }
      history.replaceState(null, '', url)
      drawCharts()
    } catch {
      // Loading the whole page shows what is wrong.
      if (!signal.aborted) choice.submit()
    }
  }
  choice.addEventListener('change', () => void show())
}

function chosen(form: HTMLFormElement): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of new FormData(form)) query.set(name, String(value))
  return query
}
