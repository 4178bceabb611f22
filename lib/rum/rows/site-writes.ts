import type { RowTable } from '../store/row.ts'
import type { RumStore } from '../store/store.ts'
import { addToStored, isChanged, type LiveRows } from './live-rows.ts'
import type { SiteFold } from './site-fold.ts'
import type { Write } from './write-queue.ts'

const REMOVED_AT_ONCE = 500

/**
 * The writes of a checkpoint in order, for any number of transactions: the changed rows, then the
 * errors and counters, each with the last entry that it includes, then the removal of these entries
 * from the journal. If a checkpoint is interrupted, the entries left in the journal make up for the
 * missing writes. More beacons may be folded in between. `add` queues further removals.
 */
export function siteWrites(store: RumStore, site: SiteFold, add: (write: Write) => void): Write[] {
  const { siteId } = site
  return [
    ...rowWrites(store.hours, siteId, site.hours),
    ...rowWrites(store.days, siteId, site.days),
    ...rowWrites(store.paths, siteId, site.paths),
    countsWrite(store, site),
    removal(store, site, add),
  ]
}

function rowWrites<Key extends object>(
  table: RowTable<Key>,
  siteId: string,
  rows: LiveRows<Key>,
): Write[] {
  return rows.changed().map((row) => ({
    // Another checkpoint may have written the row in the meantime.
    write: () => {
      if (!isChanged(row)) return
      const all = addToStored(row, table.find(siteId, row.key))
      table.save(siteId, row.key, { ...all, lastId: row.lastId })
    },
    written: () => {
      row.savedId = row.lastId
      row.samples = 0
      row.measures = {}
    },
  }))
}

/** Errors and counters are added to stored ones, so the last entry is written along with them. */
function countsWrite(store: RumStore, site: SiteFold): Write {
  const { siteId, errors, causes, counts } = site
  return {
    write: () => {
      for (const group of errors.values()) store.addErrors(siteId, group)
      for (const count of causes.values()) store.addCause(siteId, count)
      for (const counter of counts.values()) store.addCount(siteId, counter)
      if (counts.size > 0) store.saveCountedId(siteId, site.lastId)
    },
    written: () => {
      errors.clear()
      causes.clear()
      counts.clear()
    },
  }
}

function removal(store: RumStore, site: SiteFold, add: (write: Write) => void): Write {
  const { siteId, lastId } = site
  let removed = 0
  const removeSome: Write = {
    write: () => {
      removed = store.removeEntries(siteId, lastId, REMOVED_AT_ONCE)
    },
    written: () => {
      if (removed === REMOVED_AT_ONCE) add(removeSome)
    },
  }
  return removeSome
}
