import type { Unwritten } from '../db/flusher.ts'
import { saveErrors } from './error-groups.ts'
import type { Measures } from './measures.ts'
import { inUnit, VITALS } from './metrics.ts'
import { percentiles } from './percentiles.ts'
import { isChanged, type LiveRow, toStored } from './row.ts'
import type { SiteRows } from './site-rows.ts'
import type { Columns, RumStore, StoredRow } from './store.ts'

const REMOVED_AT_ONCE = 500

/**
 * What is to be written of one site, in this order, in any number of transactions: each changed row
 * with the last entry that it holds; errors and counters with theirs; then the entries up to here
 * are removed from the journal. Wherever it ends, what is left of the journal makes up for the rest.
 * More beacons may be folded meanwhile. `add` takes what turns out to be left to do.
 */
export function* partsOf(
  store: RumStore,
  rows: SiteRows,
  add: (part: Unwritten) => void,
): Generator<Unwritten> {
  const { siteId, hours, days, paths, lastId } = rows
  for (const row of hours.values()) {
    yield* rowPart(row, (stored) => store.saveHour(row, toColumns(row.measures), stored))
  }
  for (const row of days.values()) yield* rowPart(row, (stored) => store.saveDay(row, stored))
  for (const [day, pages] of paths) {
    for (const [path, row] of pages.rows) {
      yield* rowPart(row, (stored) => store.savePath(siteId, day, path, stored))
    }
  }
  yield countsPart(store, rows)
  yield removalPart(store, { siteId, lastId }, add)
}

function* rowPart(row: LiveRow, save: (stored: StoredRow) => void): Generator<Unwritten> {
  if (!isChanged(row)) return
  yield {
    // Another checkpoint may have written it, and the row may be forgotten since.
    write: () => {
      if (isChanged(row)) save(toStored(row))
    },
    written: () => {
      row.savedId = row.lastId
    },
  }
}

/** What counts up what is stored: it is written with the entry up to which it counts. */
function countsPart(store: RumStore, rows: SiteRows): Unwritten {
  const { siteId, errors, counts } = rows
  return {
    write: () => {
      for (const [hour, groups] of errors) saveErrors(store, { siteId, hour }, groups)
      for (const { hour, ...counter } of counts.values()) store.addCount(siteId, hour, counter)
      if (counts.size > 0) store.saveCountedId(siteId, rows.lastId)
    },
    written: () => {
      counts.clear()
      for (const { groups } of errors.values()) groups.clear()
    },
  }
}

type Entries = Pick<SiteRows, 'siteId' | 'lastId'>

function removalPart(
  store: RumStore,
  { siteId, lastId }: Entries,
  add: (part: Unwritten) => void,
): Unwritten {
  let removed = 0
  return {
    write: () => {
      removed = store.removeEntries(siteId, lastId, REMOVED_AT_ONCE)
    },
    written: () => {
      if (removed === REMOVED_AT_ONCE) add(removalPart(store, { siteId, lastId }, add))
    },
  }
}

const SHARES = [0.5, 0.75, 0.95]

export function toColumns(measures: Measures): Columns {
  return VITALS.flatMap((vital) => {
    const sketch = measures[vital]?.sketch
    const found = sketch === undefined ? [] : percentiles(sketch.packed(), sketch.n, SHARES)
    return SHARES.map((_, at) => inUnit(vital, found[at]))
  })
}
