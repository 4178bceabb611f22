import type { Child } from 'hono/jsx'
import { numbers, Table } from '../../pages/table.tsx'
import { writePage } from '../address-lists/parts/write-page.tsx'
import type { Measurement } from './measurement.ts'
import { Legend } from './plot-parts.tsx'
import { CalibrationPlot, ErrorsPlot, SharesPlot } from './plots.tsx'
import { suggestionLines } from './suggestion-text.ts'
import { type FigureTable, makeTables } from './tables.ts'
import { inEnglish, introduction, sourceName, weightsOf } from './words.ts'

const OWN_STYLES = `
.list-page { width: 100%; max-width: 64rem; margin: 0 auto; padding: var(--gap); display: grid; gap: 2rem; }
.list-page section { display: grid; gap: 1rem; min-width: 0; }
.list-page .wide { overflow-x: auto; }
.plot { width: 100%; height: auto; }
.plot text { font: 0.8125rem var(--sans); fill: var(--ink); }
.plot .grid { stroke: var(--line); }
.plot .diagonal { stroke: var(--line-strong); stroke-dasharray: 4 4; }
.legend { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; padding: 0; list-style: none; }
.source-0 { stroke: var(--accent); fill: var(--accent); }
.source-1 { stroke: var(--near); fill: var(--near); }
.source-2 { stroke: var(--error); fill: var(--error); }
.source-3 { stroke: var(--ink-soft); fill: var(--ink-soft); }
.plot polyline { fill: none; stroke-width: 1.5; }
`

/** Writes a page with plots and tables of all figures, which needs no other file. */
export async function writeAccuracyPage(path: string, measurement: Measurement): Promise<void> {
  await writePage(path, {
    title: 'How often answers are right',
    styles: ['site.css'],
    ownStyles: OWN_STYLES,
    content: <Content measurement={measurement} />,
  })
}

function Content({ measurement }: { readonly measurement: Measurement }) {
  const { truth, sources, calibration, suggestion } = measurement
  const weights = weightsOf(truth)
  const tables = makeTables(measurement)
  return (
    <>
      <ul>
        {introduction(measurement).map((line) => (
          <li>{line.trim()}</li>
        ))}
      </ul>
      {weights.map((weight, at) => (
        <Figures table={tables.sources[at]}>
          <Legend sources={sources} />
          <SharesPlot sources={sources} weight={weight} />
        </Figures>
      ))}
      <Errors sources={sources} />
      {calibration.map((one, at) => (
        <Figures table={tables.calibration[at]}>
          <CalibrationPlot calibration={one} weight={weights.at(-1) ?? 'perPrefix'} />
          <p>
            On the dashed line, the share that is right is the stated one. Lines are 95 % intervals.
          </p>
        </Figures>
      ))}
      <Figures table={tables.disagreements} />
      {suggestion !== undefined && (
        <section>
          <h2>Order of the providers</h2>
          <pre tabindex={0}>{suggestionLines(suggestion, weights).join('\n')}</pre>
        </section>
      )}
    </>
  )
}

interface FiguresProps {
  readonly table: FigureTable | undefined
  readonly children?: Child
}

/** A plot, and the table with its figures. */
function Figures({ table, children }: FiguresProps) {
  if (table === undefined) return null
  const [first = '', ...others] = table.heads
  return (
    <section>
      <h2>{table.title}</h2>
      {children}
      {/* It may be scrolled with the keyboard. */}
      {table.rows.length > 0 && (
        <section class="wide" tabindex={0} aria-label={table.title}>
          <Table heads={[first, ...numbers(...others)]} rows={table.rows} />
        </section>
      )}
    </section>
  )
}

/** Nothing without cities. */
function Errors({ sources }: Pick<Measurement, 'sources'>) {
  const distances = sources[0]?.within ?? []
  if (distances.length === 0) return null
  const table = {
    title: 'Cities found within a distance, % per prefix',
    heads: ['km', ...sources.map(sourceName)],
    rows: distances.map(({ km }, at) => [
      inEnglish(km),
      ...sources.map(({ within }) => (100 * (within[at]?.share ?? 0)).toFixed(1)),
    ]),
  }
  return (
    <Figures table={table}>
      <Legend sources={sources} />
      <ErrorsPlot sources={sources} />
    </Figures>
  )
}
