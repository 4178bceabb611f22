import { writeFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { TOP_DEFAULT } from '../../lib/contract/geo/summary.ts'
import { createJsonLines } from '../../lib/geo/answer/bulk.ts'
import { CSV_COLUMNS, createCells } from '../../lib/geo/answer/bulk-csv.ts'
import { locate } from '../../lib/geo/answer/locate.ts'
import { createSummary } from '../../lib/geo/answer/summary.ts'
import type { Library } from '../../lib/geo/library.ts'
import { describeForm } from '../../lib/list/describe-form.ts'
import { NO_ADDRESS } from '../../lib/list/find-addresses.ts'
import { BYTE_ORDER_MARK, KINDS, type ListForm } from '../../lib/list/form.ts'
import { createSpots } from '../../lib/list/map-spots.ts'
import { type Row, readList } from '../../lib/list/read-list.ts'
import { createTableWriter, toJsonLine } from '../../lib/list/write-list.ts'
import { parseAddress } from '../../lib/net/address.ts'
import { report } from '../parts/run.ts'
import { mapPage } from './map-page.tsx'
import { openList } from './open-list.ts'
import type { ListOptions } from './options.ts'
import { summaryText } from './summary-text.ts'

type Geo = Pick<Library, 'list' | 'find'>

/** Looks up the addresses of a list on stdin, and writes what the options ask for. */
export async function locateList(geo: Geo, options: ListOptions): Promise<void> {
  const { form, hasMark, chunks } = await openList(process.stdin, options)
  report(`Read as ${describeForm(form)}`)
  const counts = createCounts()
  const output = outputFor(form, options.keep)
  const rows = rowWriter(geo, form, output)
  const answers = async function* () {
    if (hasMark && output === 'csv') yield BYTE_ORDER_MARK
    yield rows.header
    for await (const part of readList(chunks, form)) {
      for (const row of part) counts.add(row)
      yield part.map(rows.line).join('')
    }
  }
  await pipeline(answers, process.stdout, { end: false })
  if (!options.summary && options.map === undefined) return
  const places = countPlaces(geo, counts)
  if (options.map !== undefined) await writeFile(options.map, await mapPage(places))
  if (!options.summary) return
  if (options.keep !== undefined) report(summaryText(places.summary))
  else process.stdout.write(options.json ? toJson(places) : `${summaryText(places.summary)}\n`)
}

interface RowWriter {
  readonly header: string
  readonly line: (row: Row) => string
}

type Output = 'csv' | 'json' | 'none'

function outputFor({ kind }: ListForm, keep: ListOptions['keep']): Output {
  if (keep === undefined) return 'none'
  if (keep !== 'as-read') return keep
  return kind === 'json' ? 'json' : 'csv'
}

function rowWriter(geo: Geo, form: ListForm, output: Output): RowWriter {
  if (output === 'none') return { header: '', line: () => '' }
  return output === 'csv' ? tableRows(geo, form) : jsonRows(geo, form)
}

function tableRows(geo: Geo, form: ListForm): RowWriter {
  const writer = createTableWriter(form, KINDS[form.kind] ?? ',', CSV_COLUMNS)
  const toCells = createCells((address) => locate(geo.list(), address))
  const error = CSV_COLUMNS.map((name) => (name === 'error' ? NO_ADDRESS : undefined))
  const without = writer.toCells(error)
  return {
    header: writer.header(),
    line: (row) => {
      if (row.kind !== 'row') return writer.line(row, writer.names)
      const { address } = row
      if (address === undefined) return writer.line(row, without)
      return writer.line(row, writer.toCells(toCells(address, Date.now())))
    },
  }
}

function jsonRows(geo: Geo, form: ListForm): RowWriter {
  const toJson = createJsonLines(geo.find)
  const without = JSON.stringify({ error: { message: NO_ADDRESS } })
  return {
    header: '',
    line: (row) => {
      if (row.kind !== 'row') return ''
      const { address } = row
      return toJsonLine(
        row,
        address === undefined ? without : toJson(address, Date.now()).trimEnd(),
        form,
      )
    },
  }
}

type Counts = ReturnType<typeof createCounts>

/** How often each address occurs. */
function createCounts() {
  const times = new Map<string, number>()
  let without = 0
  return {
    add: ({ kind, address }: Row) => {
      if (kind !== 'row') return
      const text = parseAddress(address ?? '')?.text
      if (text === undefined) without += 1
      else times.set(text, (times.get(text) ?? 0) + 1)
    },
    times,
    without: () => without,
  }
}

export type Places = ReturnType<typeof countPlaces>

function countPlaces({ find }: Geo, { times, without }: Counts) {
  const [summary, spots] = [createSummary({ top: TOP_DEFAULT }), createSpots()]
  const toJson = createJsonLines(find)
  summary.addInvalid(without())
  for (const [address, count] of times) {
    const result = JSON.parse(toJson(address, 0))
    summary.add(address, result, count)
    spots.add(result, count)
  }
  return { summary: summary.summarize(), spots: spots.spots(), elsewhere: spots.elsewhere() }
}

function toJson({ summary }: Places): string {
  return `${JSON.stringify(summary, null, 2)}\n`
}
