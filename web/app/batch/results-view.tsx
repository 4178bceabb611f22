import { render, useState } from 'hono/jsx/dom'
import { ListMap } from '../../../pages/dashboard/look-up/list-map.tsx'
import { ListSummary } from '../../../pages/dashboard/look-up/list-summary.tsx'
import { ListTable, type ListTableProps } from '../../../pages/dashboard/look-up/list-table.tsx'
import { Card } from '../../../pages/dashboard/parts/card.tsx'
import { count } from '../../../pages/dashboard/parts/format.ts'
import type { CountsSoFar } from './count-places.ts'
import { type ResultTable, ROWS_PER_PAGE } from './table-pages.ts'
import { OUTPUTS, type Output } from './write-results.ts'

export interface ListReport extends CountsSoFar, Pick<ListTableProps, 'form' | 'columns'> {
  readonly rows: number
  readonly table: ResultTable
  readonly firstPage: readonly (readonly string[])[]
  readonly download: (output: Output) => Promise<Blob>
}

export type ResultsView = ReturnType<typeof viewResults>

/** Shows the results of a list. `world`: the address of the world map image. */
export function viewResults(container: HTMLElement, world: string) {
  return {
    show: (report: ListReport) => render(<Results world={world} report={report} />, container),
    clear: () => container.replaceChildren(),
  }
}

interface ResultsProps {
  readonly world: string
  readonly report: ListReport
}

function Results({ world, report }: ResultsProps) {
  const { summary, waiting, spots, elsewhere, download } = report
  return (
    <>
      <Card id="summary" title="Summary">
        <ListSummary summary={summary} waiting={waiting} />
      </Card>
      <Card id="map" title="Map">
        <ListMap world={world} spots={spots} elsewhere={elsewhere} />
      </Card>
      <Card id="rows" title="Rows">
        <Downloads download={download} />
        <Pages report={report} />
      </Card>
    </>
  )
}

const DOWNLOADS: readonly (readonly [output: Output, name: string])[] = [
  ['csv', 'Download CSV'],
  ['tsv', 'Download TSV'],
  ['json', 'Download JSON Lines'],
]

function Downloads({ download }: Pick<ListReport, 'download'>) {
  const [state, setState] = useState('')
  const start = async (output: Output) => {
    setState('Preparing the file.')
    const outcome = await download(output).then(
      (blob) => save(blob, `addresses.${OUTPUTS[output].extension}`),
      (error: Error) => error.message,
    )
    setState(outcome)
  }
  return (
    <div class="actions">
      {DOWNLOADS.map(([output, name]) => (
        <button type="button" class="quiet" onClick={() => void start(output)}>
          {name}
        </button>
      ))}
      <span role="status">{state}</span>
    </div>
  )
}

/** Lets the browser save the file. */
function save(blob: Blob, name: string): string {
  const href = URL.createObjectURL(blob)
  Object.assign(document.createElement('a'), { href, download: name }).click()
  // Later, because the browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(href), KEPT_MS)
  return ''
}

const KEPT_MS = 60_000

function Pages({ report }: Omit<ResultsProps, 'world'>) {
  const { rows, form, columns, table, firstPage } = report
  const [{ page, cells }, setShown] = useState({ page: 0, cells: firstPage })
  const last = Math.max(0, Math.ceil(rows / ROWS_PER_PAGE) - 1)
  const go = async (to: number) => {
    const wanted = Math.min(last, Math.max(0, to))
    setShown({ page: wanted, cells: await table.readPage(wanted) })
  }
  const links = [
    ['First', 0],
    ['Previous', page - 1],
    ['Next', page + 1],
    ['Last', last],
  ] as const
  return (
    <>
      <ListTable labelledBy="rows" form={form} columns={columns} rows={cells} />
      <nav class="actions" aria-label="Pages of the table">
        <span role="status">{rangeOf(page, rows)}</span>
        {last > 0 &&
          links.map(([name, to]) => (
            <button type="button" class="quiet" onClick={() => void go(to)}>
              {name}
            </button>
          ))}
      </nav>
    </>
  )
}

function rangeOf(page: number, rows: number): string {
  const from = page * ROWS_PER_PAGE + 1
  const to = Math.min(rows, from + ROWS_PER_PAGE - 1)
  return `Rows ${count(from)} to ${count(to)} of ${count(rows)}`
}
