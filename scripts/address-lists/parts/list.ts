import { type Collected, createCollector } from '../../../lib/address-lists/collect.ts'
import { readList } from '../../../lib/address-lists/read-list.ts'
import { BYTE_ORDER_MARK } from '../../../lib/contract/geo/csv-cell.ts'
import { print, report } from '../../parts/run.ts'
import { entryOf } from './answer-entries.ts'
import { countLists, countPlaces } from './counts.ts'
import { writeMap } from './map-page.tsx'
import { openList } from './open-list.ts'
import type { ListOptions, Task } from './options.ts'
import { showProgress } from './progress.ts'
import { createRowWriter, outputFor } from './row-writer.ts'
import type { Source } from './source.ts'
import { printSummary, summaryText } from './summary-text.ts'

/** Looks up the addresses of a list, and writes what the options ask for. */
export async function locateList(source: Source, task: Task, options: ListOptions): Promise<void> {
  const { keep, summary, map, json } = options
  if (keep === undefined) {
    const places = await countLists(source, [task.input], options)
    if (map !== undefined) await writeMap(map, places)
    if (summary) printSummary(places.summary, { json })
    return
  }
  const collected = await keepRows(source, task, { ...options, keep })
  if (!isCounted(options)) return
  const places = await countPlaces(source, collected)
  if (map !== undefined) await writeMap(map, places)
  if (summary) report(summaryText(places.summary))
}

function isCounted({ summary, map }: ListOptions): boolean {
  return summary || map !== undefined
}

interface KeepOptions extends ListOptions {
  readonly keep: NonNullable<ListOptions['keep']>
}

/** Writes the rows with their results. Returns their addresses if they are to be counted. */
async function keepRows(
  source: Source,
  { input, answerOptions }: Task,
  options: KeepOptions,
): Promise<Collected> {
  const { form, hasMark, chunks } = await openList(input, options)
  const output = outputFor(form, options.keep)
  const { header, write } = createRowWriter(source, { form, output, answerOptions })
  const collector = createCollector(entryOf)
  using progress = showProgress('rows')
  const answers = async function* () {
    yield hasMark && output === 'csv' ? BYTE_ORDER_MARK + header : header
    for await (const part of readList(chunks, form)) {
      if (isCounted(options)) collector.add(part)
      yield await write(part)
      progress.add(part.length)
    }
  }
  await print(answers)
  return collector.collected()
}
