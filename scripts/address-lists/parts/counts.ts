import { type Collected, createCollector } from '../../../lib/address-lists/collect.ts'
import { createPlaceCounts, type PlaceCounts } from '../../../lib/address-lists/count-places.ts'
import { readList } from '../../../lib/address-lists/read-list.ts'
import type { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { createAnswerEntries, entryOf } from './answer-entries.ts'
import type { FormOptions } from './form-options.ts'
import { openList } from './open-list.ts'
import { showProgress } from './progress.ts'
import type { Source } from './source.ts'

/** Enough for a server to answer at once, few enough to show progress. */
const ADDRESSES_PER_PART = 1_000

/** Counts the rows of all files by where their addresses are. */
export async function countLists(
  source: Source,
  files: readonly string[],
  options: FormOptions,
): Promise<PlaceCounts> {
  const { add, collected } = createCollector(entryOf)
  using progress = showProgress('rows')
  for (const file of files) {
    const { form, chunks } = await openList(file, options)
    for await (const part of readList(chunks, form)) {
      add(part)
      progress.add(part.length)
    }
  }
  return countPlaces(source, collected())
}

/** Looks up each address once, and counts the rows by where it is. */
export async function countPlaces(
  source: Source,
  { addresses, counts, without }: Collected,
): Promise<PlaceCounts> {
  const places = createPlaceCounts()
  const answersTo = createAnswerEntries(source, {})
  using progress = showProgress('addresses')
  places.addWithout(without)
  for (let start = 0; start < addresses.length; start += ADDRESSES_PER_PART) {
    const part = addresses.slice(start, start + ADDRESSES_PER_PART)
    let at = 0
    for (const answer of await answersTo(part)) {
      const result: GeolocationResult = JSON.parse(answer)
      places.add(part[at] ?? '', result, counts[start + at] ?? 0)
      at += 1
    }
    progress.add(part.length)
  }
  return places.counts()
}
